"""Words of an acceptance: lines, verdicts, what a difference costs, likely causes and next
steps."""

from collections.abc import Mapping
from typing import Any

from rigplanner.asbuilt.acceptance import Acceptance, Since
from rigplanner.asbuilt.burn_in import BurnInStep
from rigplanner.asbuilt.captures import CapturedText
from rigplanner.asbuilt.checks.line import Cost, Line
from rigplanner.catalog.load import Catalog
from rigplanner.decoding import convert
from rigplanner.report import format as fmt
from rigplanner.report.language import THIN, Words, listed, tr, trn
from rigplanner.report.words.findings import finding_text, subject_name
from rigplanner.rig.document import Rig
from rigplanner.rules.core.finding import Finding

VERDICTS = Words(
    {
        "kept": "kept",
        "remark": "kept with a remark",
        "broken": "not kept",
        "unseen": "not seen",
    }
)
WHOLE = Words(
    {
        "kept": "The machine keeps the promise of its plan",
        "remark": "The machine keeps the promise of its plan, with remarks",
        "broken": "The machine does not keep the promise of its plan",
        "unseen": "The captures do not show enough to judge",
    }
)
STATES = {"kept": "ok", "remark": "warning", "broken": "error", "unseen": "unknown"}
"""Which mark and colour a verdict has: those of findings."""
GROUP_WORDS = Words(
    {
        "parts": "Parts",
        "links": "Links",
        "memory": "Memory",
        "drives": "Drives",
        "network": "Network",
        "power": "Power",
        "health": "Health",
        "speed": "Speed",
        "software": "Software",
    }
)
TITLES = Words(
    {
        "access-control": "Access control on the ports above the GPUs",
        "allreduce-busbw": "All-reduce, bus bandwidth",
        "board": "Motherboard",
        "burn-in": "Burn-in",
        "channels": "Memory channels in use",
        "copy-peer": "Slowest copy between GPUs",
        "copy-staged": "Slowest copy between GPUs, through the host",
        "cpu": "CPU",
        "cpu-heat": "CPU slowed down by heat",
        "drive": "Drive",
        "drive-count": "Drives on PCIe",
        "drive-health": "Health of the drive",
        "drive-read": "Drive, sequential read",
        "drive-timeout": "Drive did not answer in time",
        "drive-used": "Drive has been used",
        "driver": "GPU driver",
        "gpu-clock": "GPU clock under load",
        "gpu-count": "GPUs of the model",
        "gpu-ecc": "Memory errors that ECC could not correct",
        "gpu-heat": "GPU temperature",
        "gpu-memory": "GPU memory",
        "gpu-rows": "Faulty rows of GPU memory",
        "gpu-throttled": "GPU slowed down",
        "host-to-gpu": "Slowest copy from host to GPU",
        "iommu": "IOMMU",
        "link-errors": "Errors on the PCIe link",
        "link-generation": "PCIe generation",
        "link-width": "PCIe width",
        "machine-check": "Hardware errors that the CPU reports",
        "matrix": "Path between GPUs",
        "matrix-size": "GPUs in the matrix",
        "memory-ecc": "Memory with ECC",
        "memory-size": "Memory",
        "memory-speed": "Memory speed",
        "mig": "GPU is partitioned (MIG)",
        "modules": "Memory modules",
        "nic": "Network card",
        "numa": "GPUs that share a NUMA node",
        "nvlink": "NVLinks up",
        "off-bus": "GPU no longer answers",
        "peer-path": "Copies between GPUs are slower than through the host",
        "persistence": "Persistence mode",
        "port-rate": "Network port",
        "power-limit": "Power limit",
        "root-port": "GPUs that share a root port",
        "rule": "Software and firmware against the rules",
        "sensor-heat": "Temperature",
        "slot": "Slot",
        "sockets": "CPUs",
        "system": "System",
        "workload": "Measured workload",
        "xid": "GPU error (Xid)",
    }
)
CAUSES = Words(
    {
        "access-control": "Access control (ACS) sends peer copies up to the CPU and back.",
        "bios-generation": "The BIOS holds the port at a lower generation.",
        "bridge-missing": "The NVLink bridge is missing, or not seated.",
        "bridge-partial": "The NVLink connector touches only in part.",
        "burn-in": "The burn-in program found wrong results.",
        "cap-not-set": "The planned power limit is not set: the supply was chosen by it.",
        "card-generation": "The card itself is of an older generation than planned.",
        "card-missing": "The card is not there, or not powered.",
        "card-narrow": "The card itself has fewer lanes than planned.",
        "channel-empty": "Modules are on fewer channels than planned.",
        "contacts": "Slot and card can do more: contacts, dirt, or a bent pin hold lanes back.",
        "cpu-missing": "A CPU is missing, or not seated.",
        "drive-health": "The drive reports errors of its own.",
        "drive-missing": "The drive is missing, or its port is off.",
        "drive-timeout": "The drive hangs: a bad link, too little power, or its firmware.",
        "drive-used": "The drive has more wear or hours than a new one.",
        "driver-old": "The installed driver is older than the one planned.",
        "gpu-memory": "The GPU's memory is failing.",
        "gpu-missing": "A GPU is missing: no power, not seated, or no room for its address.",
        "hardware-slowdown": "The card's own hardware slows it down: heat or power.",
        "heat": "It is too hot: airflow, dust, fans, or the paste under the cooler.",
        "iommu": "The IOMMU translates every transfer between GPUs.",
        "limit-lowered": "Somebody lowered the power limit.",
        "machine-check": "CPU, memory or board report an error.",
        "maker-limit": "The card's maker set another limit than the reference card has.",
        "memory-label": "The modules are slower ones than planned.",
        "memory-profile": (
            "The memory profile (XMP, EXPO) is off, or the BIOS lowered the speed for this many"
            " modules."
        ),
        "mig": "The GPU was left in MIG mode.",
        "module-missing": (
            "A module is missing, not seated, or switched off after a training error."
        ),
        "off-bus": "The GPU fell off the bus: power, heat, riser, or the card itself.",
        "other-end": "The other end of the cable is slower, or the cable is.",
        "other-modules": "Other modules than planned are fitted.",
        "other-numa": "The cards are in other slots, or the BIOS makes other NUMA nodes.",
        "other-part": "Another part than planned is fitted.",
        "other-path": "The cards are in other slots than planned.",
        "other-root-port": "Cards share a port's lanes that were planned apart, or the reverse.",
        "other-variant": "The names differ by a word: another variant, or a shorter name for it.",
        "other-slot": "The card is in another slot than planned.",
        "other-socket": "The cards are on different CPUs.",
        "persistence": "Without persistence mode the power limit is forgotten when no program "
        "runs.",
        "power-bound": "Its power limit holds the clock below the one that its maker guarantees.",
        "power-brake": "The board or a supply pulls the power brake.",
        "riser-contacts": "The riser or its contacts hold lanes back.",
        "riser-signal": "The signal through the riser is too weak for the planned generation.",
        "rows-failed": "The GPU could not replace a faulty row of its memory.",
        "rows-pending": "The GPU will replace a faulty row of its memory at the next reset.",
        "signal": (
            "The signal is weak: contacts, a riser or cable, or too high a generation for it."
        ),
        "slot-generation": "The slot itself is of an older generation than planned.",
        "slot-narrow": "The slot has fewer lanes here: wired so, or shared by bifurcation.",
        "slot-or-contacts": "The slot has fewer lanes, or contacts hold them back.",
        "slow-allreduce-busbw": "A link on the ring is slower than planned.",
        "slow-copy-peer": "The path between the two GPUs is slower than planned.",
        "slow-copy-staged": "The path through the host is slower than planned.",
        "slow-drive-read": "The drive is hot, nearly full, or on a slower link.",
        "slow-host-to-gpu": "The card's link is narrower or slower under load than it says.",
        "slow-job": "The machine runs this workload slower than predicted.",
        "xid-link": "NVIDIA counts this error among those of the link.",
        "xid-memory": "NVIDIA counts this error among those of the GPU's memory.",
        "xid-nvlink": "NVIDIA counts this error among those of NVLink.",
        "xid-off-bus": "The GPU fell off the bus: power, heat, riser, or the card itself.",
        "xid-power": "NVIDIA counts this error among those of power.",
        "xid-replace": "NVIDIA takes this error as a reason to return the card.",
        "xid-reset": "The GPU or its firmware stopped answering.",
        "xid-restart-app": "NVIDIA counts this error among those of programs.",
        "xid-rows": "The GPU replaced a faulty row of its memory.",
        "xid-support": "NVIDIA asks for a report of this error.",
        "xid-unknown": "NVIDIA's table does not explain this number.",
    }
)
STEPS = Words(
    {
        "access-control": "Switch ACS off in the BIOS, or clear it with setpci, and measure again.",
        "bios-generation": "Set the slot's link speed to Auto or Gen{promised} in the BIOS.",
        "bridge-missing": "Seat the bridge on {subject}, then run nvidia-smi nvlink -s.",
        "bridge-partial": "Take the bridge off, clean the contacts, and seat it again.",
        "burn-in": "Test the GPU alone in another slot; if it fails there, return it.",
        "cap-not-set": (
            "Run nvidia-smi -pm 1 and nvidia-smi -i {index} -pl {promised} at each start."
        ),
        "card-generation": "Compare the card's label with the quote.",
        "card-missing": "Check seat and power cables, then run lspci.",
        "card-narrow": "Compare the card's label with the quote.",
        "channel-empty": "Fit the modules into the slots that the board's manual names first.",
        "contacts": (
            "Take the card out, clean the contacts, seat it again, and compare in another slot."
        ),
        "cpu-missing": "Check the second socket and its power plugs.",
        "drive-health": "Copy the data away and return the drive.",
        "drive-missing": (
            "Look for the port in the BIOS: it may be shared with a slot that is in use."
        ),
        "drive-timeout": "Seat the drive again, update its firmware, and try another port.",
        "drive-used": "Ask the seller whether the drive was sold as new.",
        "driver-old": "Install driver {promised} or newer.",
        "gpu-memory": "Run the memory test of DCGM; if it fails, return the card.",
        "gpu-missing": "Check power cables and seat, and set Above 4G Decoding in the BIOS.",
        "hardware-slowdown": "Check the power cables of the card and its temperature under load.",
        "heat": "Check fans, airflow and dust, and measure again after an hour of load.",
        "iommu": "Add iommu=pt to the kernel's command line.",
        "limit-lowered": "Run nvidia-smi -i {index} -pl {promised}.",
        "machine-check": "Run a memory test, then mcelog or rasdaemon to see which part it names.",
        "maker-limit": "Plan with {seen} for this card, or limit it with nvidia-smi -pl.",
        "memory-label": "Compare the modules' labels with the quote.",
        "memory-profile": "Switch the profile on in the BIOS, or set {promised} by hand.",
        "mig": "Run nvidia-smi -mig 0 unless the partitions are wanted.",
        "module-missing": (
            "Seat all modules again, one channel at a time, and look into the BIOS log."
        ),
        "off-bus": "Check power plugs and riser, then try the card in another slot.",
        "other-end": "Check the port of the switch, and the cable's rating.",
        "other-modules": "Compare the modules' labels with the quote.",
        "other-numa": "Compare the slots with the plan, and the setting of NUMA nodes per socket.",
        "other-part": "Compare the part's label with the quote.",
        "other-path": "Compare the slots with the plan.",
        "other-root-port": "Compare the slots with the plan.",
        "other-variant": "Compare the part's label with the quote.",
        "other-slot": "Move it to {promised}.",
        "other-socket": "Move one of the cards to a slot of the other's CPU.",
        "persistence": "Enable nvidia-persistenced.",
        "power-bound": "Raise the limit, or plan with the speed at this limit.",
        "power-brake": "Check the supplies and the cables between supply and board.",
        "riser-contacts": "Try the card without the riser; then replace the riser.",
        "riser-signal": "Use a shorter riser made for Gen{promised}, or set Gen{seen} for good.",
        "rows-failed": "Return the card.",
        "rows-pending": "Restart the machine, then look whether more rows fail.",
        "signal": (
            "Seat card and cables again; a link that keeps failing is set one generation lower."
        ),
        "slot-generation": "Move it to a slot of Gen{promised}.",
        "slot-narrow": "Move it to {place}, or set that slot's bifurcation to x{promised}.",
        "slot-or-contacts": (
            "Compare slot and bifurcation with the plan; if they are right, clean the contacts and"
            " seat the card again."
        ),
        "slow-allreduce-busbw": (
            "Look at the lines of links and paths, and run it for pairs of GPUs."
        ),
        "slow-copy-peer": "Look at the lines of links and paths of these GPUs.",
        "slow-copy-staged": "Look at the lines of links, and at memory speed and channels.",
        "slow-drive-read": "Let it cool, look at its link, and measure again.",
        "slow-host-to-gpu": "Look at the card's link while the copy runs.",
        "slow-job": "Look at power limit, clocks and temperature while it runs.",
        "xid-link": "Seat the card again and look at its riser.",
        "xid-memory": "Reset the GPU; if the error comes back, return the card.",
        "xid-nvlink": "Seat the bridge again; on a baseboard ask its maker.",
        "xid-off-bus": "Check power plugs and riser, then try the card in another slot.",
        "xid-power": "Connect the card's power plugs.",
        "xid-replace": "Return the card.",
        "xid-reset": "Restart, update the driver; if it comes back, ask the card's maker.",
        "xid-restart-app": "Look for the program that ran at that time.",
        "xid-rows": "Restart once; more of them mean a failing card.",
        "xid-support": "Send the log to the card's maker.",
        "xid-unknown": "Look it up in the driver's release notes.",
    }
)
LOSSES = Words(
    {
        "exchange": "{share} slower exchange between GPUs",
        "copies": "{share} slower copies to the GPU",
        "memory": "{share} less memory bandwidth",
    }
)
PROBLEMS = Words(
    {
        "empty": "is empty",
        "binary": "is not a text",
        "unreadable": "cannot be read",
        "unknown": "is no output of a program that is understood",
        "broken": "is broken",
    }
)
CHANGES = Words(
    {"worse": "worse", "better": "better", "other": "other", "new": "new", "gone": "not seen now"}
)
PURPOSES = Words(
    {
        "allreduce-busbw": "All-reduce over all GPUs",
        "collect": "Collect under load, then compare with the plan",
        "copy-peer": "Copies between GPUs",
        "copy-staged": "Copies between GPUs, through the host",
        "drive-read": "Sequential read of the drive",
        "gpu-health": "Errors and clocks after the load",
        "gpu-load": "All GPUs under full load: no errors, no slowing by heat",
        "host-to-gpu": "Copies from host to each GPU",
        "matrix": "Paths between GPUs",
        "memory-load": "Memory under load: no errors",
        "nvlink": "NVLinks up on each GPU",
        "workload": "A workload of the rig",
    }
)


def line_title(line: Line, rig: Rig, catalog: Catalog) -> str:
    """Return what a line compares, with its piece: "PCIe width: GPU 1"."""
    title = TITLES[line.code] if line.code in TITLES.english else line.code
    name = subject_text(line.subject, rig, catalog)
    return f"{title}: {name}" if name else title


def subject_text(subject: str, rig: Rig, catalog: Catalog) -> str:
    """Return the piece, pair or workload that a line concerns, by its name in the plan."""
    head = subject.split(".")[0]
    if rig.item(head) is not None or head == "workload":
        return subject_name(subject, rig, catalog)
    if subject.startswith("gpu") and subject[3:4].isdigit():
        return listed([f"GPU {part.removeprefix('gpu')}" for part in subject.split("-")], " – ")
    return subject


def value_words(value: float | str | None, unit: str, code: str = "") -> str:
    """Return a value of a line, a dash for none."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return {"on": tr("on"), "off": tr("off")}.get(value, value)
    if code == "link-width":
        return f"x{value:g}"
    if code == "link-generation":
        return f"Gen{value:g}"
    if unit in ("links", "modules", "lines") or not unit:
        return fmt.number(value)
    return fmt.quantity(value, unit)


def promised_words(line: Line) -> str:
    """Return what was promised, with its interval where it was predicted."""
    text = value_words(line.promised, line.unit, line.code)
    if line.low is not None and line.high is not None:
        return f"{text} ({fmt.interval(line.low, line.high)})"
    return text


def seen_words(line: Line) -> str:
    """Return what is seen."""
    if line.code == "rule":
        return str(line.seen or "")
    return value_words(line.seen, line.unit, line.code)


def cause_text(line: Line, rig: Rig, catalog: Catalog) -> str:
    """Return the likely cause, "" for a line that needs none."""
    if line.code == "rule" and "finding" in line.values:
        return finding_text(_finding(line.values), rig, catalog)
    return CAUSES[line.cause] if line.cause in CAUSES.english else ""


def step_text(line: Line, rig: Rig, catalog: Catalog) -> str:
    """Return the next step, "" for a line that needs none."""
    if line.cause not in STEPS.english:
        return ""
    values = {
        "promised": fmt.number(line.promised) if isinstance(line.promised, int) else "",
        "subject": subject_text(line.subject, rig, catalog) or tr("the GPUs"),
        "seen": value_words(line.seen, line.unit, ""),
        "place": line.values.get("place") or tr("a wider slot"),
        "index": line.values.get("index", 0),
    }
    if not values["promised"]:
        values["promised"] = value_words(line.promised, "", "")
    return tr(STEPS.english[line.cause], **values)


def _finding(values: Mapping[str, Any]) -> Finding:
    return convert(values["finding"], Finding)


def cost_text(line: Line, jobs: tuple[str, ...]) -> str:
    """Return what a difference costs, "" where no model knows."""
    return "" if line.cost is None else listed(_costs(line.cost, jobs))


def _costs(cost: Cost, jobs: tuple[str, ...]) -> list[str]:
    texts: list[str] = []
    if cost.amount is not None:
        texts.append(fmt.money(cost.amount, cost.currency))
    for code, share in (
        ("exchange", cost.exchange),
        ("copies", cost.copies),
        ("memory", cost.memory),
    ):
        if share is not None:
            texts.append(tr(LOSSES.english[code], share=_percent(share)))
    for lost in cost.jobs:
        name = jobs[lost.job] if lost.job < len(jobs) else ""
        texts.append(tr("{share} of the speed of {job}", share=_percent(lost.share), job=name))
    return texts


def _percent(share: float) -> str:
    return f"{fmt.number(100 * share, 1 if share < 0.1 else 0)}{THIN}%"


def counts_words(made: Acceptance) -> str:
    """Return how many lines have each verdict."""
    counts = made.counts
    return listed(
        [
            trn("{count} line kept", "{count} lines kept", counts["kept"]),
            trn("{count} with a remark", "{count} with a remark", counts["remark"]),
            trn("{count} not kept", "{count} not kept", counts["broken"]),
            trn("{count} not seen", "{count} not seen", counts["unseen"]),
        ]
    )


def text_problem(captured: CapturedText) -> str:
    """Return one sentence on a file that was not understood, "" for one that was."""
    if not captured.problem:
        return ""
    return tr("{name} {problem}.", name=captured.name, problem=PROBLEMS[captured.problem])


def since_text(since: Since, rig: Rig, catalog: Catalog) -> str:
    """Return one sentence on what changed since an earlier acceptance."""
    title = TITLES[since.code] if since.code in TITLES.english else since.code
    name = subject_text(since.subject, rig, catalog)
    what = f"{title}: {name}" if name else title
    before = value_words(since.before, since.unit, since.code)
    now = value_words(since.now, since.unit, since.code)
    return f"{what}: {before} → {now} ({CHANGES[since.change]})"


def expected_text(step: BurnInStep) -> str:
    """Return what a step of a burn-in plan should show."""
    if step.text == "under-load":
        return tr("while the GPUs are under load")
    if step.value is None or step.low is None or step.high is None:
        return step.text or tr("no error")
    middle = fmt.quantity(step.value, step.unit)
    return f"{middle} ({fmt.interval(step.low, step.high)})"
