"""Colours of print: ink, states, and one hue for each part of memory; all tell apart in grey too,
by lightness or by a word."""

INK, QUIET, LINE, PALE, ACCENT = "#1b1f24", "#5c6670", "#c9d0d6", "#f3f5f7", "#0b5c8a"
STATES = {
    "error": "#b3261e",
    "warning": "#8a5a00",
    "unknown": "#5b5378",
    "info": "#31556e",
    "ok": "#1f6b3a",
}
HUES = {
    "weights": "#0b5c8a",
    "gradients": "#3f93b5",
    "optimizer": "#7a5195",
    "activations": "#c46b12",
    "KV cache": "#2f7d4f",
    "workspace": "#8b949c",
    "context": "#b9c0c6",
    "held in reserve": "#dde2e6",
}
CHART_HUES = ("#3f93b5", "#d9964f", "#6fae88", "#a88bc0")
"""One hue a rig in charts of a comparison."""
FILLS = {
    "cpu": "#ffffff",
    "chipset": "#ffffff",
    "switch": "#eef1f4",
    "gpu": "#e3eef5",
    "nic": "#f3f5f7",
    "drive": "#f3f5f7",
    "free": "#ffffff",
    "slot": "#ffffff",
    "covered": "#e4e7ea",
}
"""Grounds of boxes in pictures."""
