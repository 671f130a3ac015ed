"""Why a model of speed or memory gave no answer, in the reader's words. The engine's faults are
English sentences with values."""

import re

from rigplanner.report.language import listed, tr

FAULTS = {
    r"precision: (?P<gpu>.+) \([^)]*\) has no (?P<precision>\S+) arithmetic;"
    r" use one of (?P<others>.+)\.": ("{gpu} has no {precision} arithmetic; it has {others}."),
    r"The speed of (?P<gpu>.+) cannot be told: the catalog does not say (?P<what>.+) \(.+\)\.": (
        "The speed of {gpu} cannot be told: the catalog does not say {what}."
    ),
    r"model: the zoo lacks the arithmetic of '(?P<model>.+)', so its speed cannot be told\.": (
        "How much {model} computes is not known, so its speed cannot be told."
    ),
    r"model: '(?P<model>[^']+)' is not known; the nearest are (?P<others>.+)\.": (
        "The model {model} is not known; the nearest are {others}."
    ),
    r"model: '(?P<model>[^']+)' is not known\.": "The model {model} is not known.",
    r"model: the layers of '(?P<model>[^']+)' are not known, so its memory cannot be told\.": (
        "The layers of {model} are not known, so its memory cannot be told."
    ),
    r"model: how many rows the embedding tables of '(?P<model>.+)' have is not known\.": (
        "How many rows the embedding tables of {model} have is not known."
    ),
    r"task: of a table only the memory is known, not the speed; ask `rigplanner memory`\.": (
        "Of a table only the memory is known, not the speed."
    ),
    r"hardware\.gpu: the memory of (?P<gpu>.+) is not known\.": "The memory of {gpu} is not known.",
    r"hardware\.gpu: no MIG partitions are known of (?P<gpu>.+)\.": (
        "No MIG partitions of {gpu} are known."
    ),
    r"model: expected a network of the zoo, a configuration or figures, found none\.": (
        "No model is chosen."
    ),
    r"power limit: (?P<gpu>.+) takes at least (?P<least>.+) W, found (?P<found>.+)\.": (
        "{gpu} takes a power limit of at least {least} W, found {found} W."
    ),
    r"power limit: (?P<gpu>.+) takes at most (?P<most>.+) W, found (?P<found>.+)\.": (
        "{gpu} takes a power limit of at most {most} W, found {found} W."
    ),
}
"""The engine's sentence as a pattern, to the words for it."""


def fault_text(fault: str | None) -> str:
    """Return a fault of the engine for reading, "" for none; one without words of its own stays as
    it is."""
    for pattern, words in FAULTS.items():
        if found := re.fullmatch(pattern, fault or ""):
            values = found.groupdict()
            if "others" in values:
                values["others"] = listed(values["others"].split(", "))
            if "what" in values:
                values["what"] = tr(values["what"])
            return tr(words, **values)
    return fault or ""
