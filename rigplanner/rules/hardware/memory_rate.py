"""Rate of host memory: what modules per channel, CPU and board leave of a module's label."""

from collections.abc import Iterator

from rigplanner.rig.edits import Edit
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding, Fix
from rigplanner.rules.core.fixes import fix, item_of
from rigplanner.rules.core.registry import rule
from rigplanner.rules.hardware.memory import Bank, Fitted, banks, fitted


def doubled(context: Context) -> Iterator[Bank]:
    """Memory that puts more than one module on a channel, or on a CPU whose channels are not
    known."""
    for case in banks(context):
        memory = case.cpu.memory
        if memory is None or not memory.channels or case.modules > memory.channels * case.cpus:
            yield case


@rule(
    "MEM006",
    "Memory runs slower with two modules per channel",
    "warning",
    over=doubled,
    needs=("kit.speed_mts", "cpu.memory.speeds_mts", "cpu.memory.channels"),
    reason="The controller guarantees a lower rate when a channel carries two modules.",
    source=(
        "CPU makers' memory speed tables, for example DDR5-5200 with one and 3600 with two per"
        " channel on Ryzen 7000"
    ),
)
def speed(context: Context, case: Bank) -> Iterator[Finding]:
    """Compare the kit's rate with what the CPU guarantees at this population, in MT/s; a remark
    where that is little less than with one module, as with DDR4."""
    memory = case.cpu.memory
    if memory is None or not memory.channels or case.kit.speed_mts is None:
        return
    per_channel = -(-case.modules // (memory.channels * case.cpus))
    if per_channel < 2:
        return
    speed_mts = memory.speeds_mts.get(str(per_channel))
    if speed_mts is None:
        yield speed.unknown(case, f"{case.cpu.id}:speeds_mts.{per_channel}")
    elif speed_mts < min(case.kit.speed_mts, memory.speeds_mts.get("1", case.kit.speed_mts)):
        mild = speed_mts >= MILD_LOSS * memory.speeds_mts.get("1", case.kit.speed_mts)
        yield speed.finding(
            case,
            "info" if mild else None,
            needed=case.kit.speed_mts,
            actual=speed_mts,
            unit="MT/s",
            per_channel=per_channel,
            fixes=_one_per_channel(context, case, memory.channels * case.cpus),
        )


MILD_LOSS = 0.85
"""Share of the rate with one module per channel from which the loss is only told: DDR4 falls from
3200 to 2933 MT/s, DDR5 from 5200 to 3600."""


def _one_per_channel(context: Context, case: Bank, modules: int) -> tuple[Fix, ...]:
    found = item_of(context, case.name)
    if (
        found is None
        or case.modules != found[0].quantity * case.kit.modules
        or modules % case.kit.modules
    ):
        return ()
    edit = Edit("set_quantity", {"uid": found[0].uid, "quantity": modules // case.kit.modules})
    return (fix(context, "one-per-channel", edit, gib=modules * case.kit.module_gib),)


REGISTERED = ("rdimm", "lrdimm", "mrdimm")
"""Kinds of module that no board runs above what the CPU guarantees; unbuffered ones follow the
profiles that their makers store."""


def labelled(context: Context) -> Iterator[Fitted]:
    """Registered modules, and all modules on boards whose maker names a limit."""
    for case in fitted(context):
        if case.kit.module in REGISTERED or case.board.layout.memory_speed_mts is not None:
            yield case


@rule(
    "MEM011",
    "Memory is faster than CPU or board runs it",
    "info",
    over=labelled,
    needs=("kit.speed_mts", "cpu.memory.speeds_mts"),
    reason=(
        "Registered modules run at the rate of the CPU's memory controller, and no module above the"
        " limit of its board: the label only says what they bear."
    ),
    source="CPU makers' memory speed tables; system makers' specifications",
)
def labelled_rate(context: Context, case: Fitted) -> Iterator[Finding]:
    """Compare a module's rate with the lowest of what CPU (registered modules, one per channel) and
    board run, in MT/s."""
    memory, of_board = case.cpu.memory if case.cpu else None, case.board.layout.memory_speed_mts
    of_cpu = memory.speeds_mts.get("1") if memory and case.kit.module in REGISTERED else None
    runs = min((rate for rate in (of_cpu, of_board) if rate is not None), default=None)
    if runs is not None and case.kit.speed_mts is not None and case.kit.speed_mts > runs:
        yield labelled_rate.finding(case, needed=case.kit.speed_mts, actual=runs, unit="MT/s")
