"""`make run`: open the window on a sample; without a display do the same job on paper and name the
files."""

import os
import subprocess
import sys
from pathlib import Path

OUT = Path("out")


def main(sample: str) -> int:
    """Open the window, or check the sample, write its quote and a picture of the window."""
    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        from rigplanner.cli.main import main as rigplanner

        return rigplanner([sample])
    print("There is no display here, so no window opens. Instead:")
    OUT.mkdir(exist_ok=True)
    stem = Path(sample).stem
    quote, picture = OUT / f"{stem}.pdf", OUT / f"{stem}.png"
    subprocess.run([sys.executable, "-m", "rigplanner", "check", sample], check=False)
    subprocess.run(
        [sys.executable, "-m", "rigplanner", "quote", sample, "-o", str(quote)], check=True
    )
    offscreen = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [
        sys.executable,
        "-m",
        "rigplanner.desktop.screenshots",
        "--rig",
        sample,
        "--one",
        str(picture),
    ]
    done = subprocess.run(command, env=offscreen, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return done.returncode
    print(f"The quote:                {quote}\nA picture of the window:  {picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
