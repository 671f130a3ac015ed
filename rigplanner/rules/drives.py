"""Drives: a port that exists and speaks their protocol, the rate they get there, and bays."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.parts import Chassis, DrivePort, Enclosure, Motherboard, Storage, System
from rigplanner.machine.machine import DriveUse, Machine
from rigplanner.machine.pcie import coded_gbs
from rigplanner.machine.seekers import PORTS_OF, drive_of
from rigplanner.rules.finding import Finding, Fix, Named
from rigplanner.rules.fixes import fix, move
from rigplanner.rules.moves import lands
from rigplanner.rules.radiators import Room, room_in
from rigplanner.rules.registry import Rule, rule
from rigplanner.rules.situation import Situation, is_built_in
from rigplanner.rules.slots import Seeker

MANUAL = "Board manuals, storage tables"


Homeless = Seeker[Storage]
"""A drive that wants a port."""


def port_seekers(situation: Situation) -> Iterator[Homeless]:
    """Every drive, and every accelerator on an M.2 module, that the owner connects to the board."""
    board = situation.board
    if board is None:
        return
    problems = {problem.piece: problem for problem in reversed(situation.machine.problems)}
    for drive in situation.drives:
        if drive.drive.form_factor != "aic" and not is_built_in(drive.name):
            yield Homeless(drive.name, drive.drive, drive.board or board.board, problems.get(drive.name))
    for card in situation.cards:
        module = drive_of(card.name, card.card, "") if card.card.form_factor == "m2" else None
        if module is not None:
            yield Homeless(card.name, module.part, board.board, problems.get(card.name))


def stopped(entry: Rule, situation: Situation, case: Homeless, reason: str) -> Iterator[Finding]:
    """Yield the finding when the solver gave this reason; the fix gives the drive back to the solver where a port is free."""
    problem = case.problem
    if problem is None or problem.reason != reason:
        return
    yield entry.finding(
        case,
        needed=problem.needed,
        actual=problem.actual,
        fixes=_let_solver(situation, case),
        place=problem.place,
        by=list(problem.by),
    )


def _let_solver(situation: Situation, case: Homeless) -> tuple[Fix, ...]:
    edit = move(situation, case.name, "")
    free = any(len(use.pieces) < use.usable for use in _open_ports(situation, case.part))
    wished = case.problem is not None and case.problem.place
    helps = edit is not None and free and wished and lands(situation, (edit,), case.name)
    return (fix(situation, "let-solver-place", edit, piece=case.name),) if edit and helps else ()


def _open_ports(situation: Situation, drive: Storage) -> list[DriveUse]:
    """Return the living ports that take a drive: where it may move to, so none where fixes are not sought."""
    uses = situation.machine.drives if situation.advise else ()
    return [use for use in uses if not use.disabled_by and _takes(use.port, drive)]


def _takes(port: DrivePort, drive: Storage) -> bool:
    if port.protocols and drive.interface not in port.protocols:
        return False
    return port.kind == ("m2" if drive.form_factor == "m2" else "sata" if drive.interface == "sata" else port.kind)


@rule(
    "M2001", "No port is left for a drive", "error", over=port_seekers,
    needs=("board.layout.drives",),
    reason="Each drive takes one living port of its kind.",
    source=MANUAL,
)  # fmt: skip
def no_port(situation: Situation, case: Homeless) -> Iterator[Finding]:
    """The solver found no port; one finding for all pieces of an item."""
    pieces = situation.homeless.get((case.name.partition("/")[0].rpartition(".")[0], "no-port"), ())
    if pieces and case.name == pieces[0] and _has_backplane(case):
        yield no_port.unknown(case, f"{case.board.id}:drives")
    elif pieces and case.name == pieces[0] and _wants_unlisted_key(case):
        yield no_port.unknown(case, f"{case.board.id}:key_e_sockets")
    elif pieces and case.name == pieces[0]:
        yield from (replace(finding, subjects=pieces) for finding in stopped(no_port, situation, case, "no-port"))


def _wants_unlisted_key(case: Homeless) -> bool:
    """Say whether a module has key E and the board's sockets of that key, which radio modules use, are not in the catalog."""
    wanted = case.problem is not None and case.problem.needed == "m2e"
    return wanted and not any(port.kind == "m2e" for port in case.board.layout.drives)


def _has_backplane(case: Homeless) -> bool:
    """Say whether a system has bays for such a drive, but no port of its kind is listed: the backplane is not known."""
    enclosure = case.board.enclosure if isinstance(case.board, System) else None
    if enclosure is None or case.part.form_factor == "m2":
        return False
    kinds = PORTS_OF.get((case.part.form_factor, case.part.interface), ())
    bays = (enclosure.bays_25 or 0) + (enclosure.bays_35 or 0)
    return bays > 0 and not any(port.kind in kinds for port in case.board.layout.drives)


@rule(
    "M2002", "Drive port does not exist on this board", "error", over=port_seekers,
    needs=("board.layout.drives",),
    reason="A wished place must be one of the board's.",
    source=MANUAL,
)  # fmt: skip
def port_missing(situation: Situation, case: Homeless) -> Iterator[Finding]:
    """The wished port is not on the board."""
    yield from stopped(port_missing, situation, case, "port-missing")


@rule(
    "M2003", "Drive port is taken", "error", over=port_seekers,
    needs=("board.layout.drives",),
    reason="An M.2 socket holds one drive, a block of SATA ports as many as it has.",
    source=MANUAL,
)  # fmt: skip
def port_taken(situation: Situation, case: Homeless) -> Iterator[Finding]:
    """The wished port is full."""
    yield from stopped(port_taken, situation, case, "port-taken")


@rule(
    "M2004", "Drive port is switched off", "error", over=port_seekers,
    needs=("board.layout.drives",),
    reason="Other places, or the class of CPU, take the lanes of some ports away.",
    source=MANUAL,
)  # fmt: skip
def port_disabled(situation: Situation, case: Homeless) -> Iterator[Finding]:
    """A lane mode switches the wished port off."""
    yield from stopped(port_disabled, situation, case, "port-disabled")


@rule(
    "M2005", "Port does not speak the drive's protocol", "error", over=port_seekers,
    needs=("board.layout.drives",),
    reason="Some M.2 sockets carry only NVMe, some only SATA.",
    source=MANUAL,
)  # fmt: skip
def protocol(situation: Situation, case: Homeless) -> Iterator[Finding]:
    """The wished port lacks the protocol."""
    yield from stopped(protocol, situation, case, "protocol")


class InPort(Struct, frozen=True):
    """A drive in its port, with the link it got."""

    name: str
    drive: Storage
    port: DrivePort
    board: Motherboard | System
    gen: int | None
    width: int | None

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, self.port.id)


def m2_drives(situation: Situation) -> Iterator[InPort]:
    """M.2 drives in M.2 sockets."""
    for drive in situation.drives:
        port = drive.port
        if port is None or port.kind != "m2" or drive.drive.form_factor != "m2" or is_built_in(drive.name):
            continue
        if drive.use and drive.board:
            yield InPort(drive.name, drive.drive, port, drive.board, drive.use.gen, drive.use.width)


@rule(
    "M2006", "Drive is too long for the socket", "error", over=m2_drives,
    needs=("drive.m2_length_mm", "port.lengths_mm"),
    reason="The socket has a stand-off only at the lengths its maker lists.",
    source=MANUAL,
)  # fmt: skip
def length(situation: Situation, case: InPort) -> Iterator[Finding]:
    """Compare the drive's length with the socket's, in mm."""
    size = case.drive.m2_length_mm
    if size is None or size in case.port.lengths_mm:
        return
    free = [use.port for use in _open_ports(situation, case.drive) if not use.pieces]
    homes = [port.id for port in free if size in port.lengths_mm]
    edit = move(situation, case.name, homes[0]) if homes else None
    fixes = (fix(situation, "move-drive", edit, piece=case.name, places=homes[:1]),) if edit else ()
    yield length.finding(case, needed=size, actual=max(case.port.lengths_mm), unit="mm", fixes=fixes)


def nvme_in_m2(situation: Situation) -> Iterator[InPort]:
    """NVMe drives in M.2 sockets."""
    for case in m2_drives(situation):
        if case.drive.interface == "nvme":
            yield case


@rule(
    "M2007", "Drive runs below its rate in this socket", "info", over=nvme_in_m2,
    needs=("drive.gen", "drive.width", "gen", "width"),
    reason="The link takes the lower generation and width of drive and socket.",
    source="PCI-SIG rates",
)  # fmt: skip
def slow_socket(situation: Situation, case: InPort) -> Iterator[Finding]:
    """Compare the link in GB/s with what the drive can read."""
    able = case.drive.read_gbs or coded_gbs(case.drive.gen, case.drive.width)
    actual = coded_gbs(case.gen, case.width)
    if able is None or actual is None or actual >= able:
        return
    free = [use for use in _open_ports(situation, case.drive) if not use.pieces]
    better = [use for use in free if (coded_gbs(use.gen, use.width) or 0) >= able]
    edit = move(situation, case.name, better[0].port.id) if better else None

    def keeps_up(machine: Machine) -> bool:
        return any(case.name in use.pieces and (coded_gbs(use.gen, use.width) or 0.0) >= able for use in machine.drives)

    helps = edit is not None and lands(situation, (edit,), case.name, better[0].port.id, keeps_up)
    fixes = (fix(situation, "move-drive", edit, piece=case.name, places=[better[0].port.id]),) if edit and helps else ()
    yield slow_socket.finding(case, needed=round(able, 1), actual=round(actual, 1), unit="GB/s", fixes=fixes)


class Ports(Struct, frozen=True):
    """A block of ports that lost some."""

    name: str
    port: DrivePort
    board: Motherboard | System
    usable: int
    by: tuple[str, ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.port.id,)


def sata_blocks(situation: Situation) -> Iterator[Ports]:
    """Blocks of SATA ports."""
    for use in situation.machine.drives:
        board = situation.board_of(use.board)
        if use.port.kind == "sata" and board is not None:
            yield Ports(use.board, use.port, board, 0 if use.disabled_by and use.usable in (0, 1) else use.usable, use.disabled_by)


@rule(
    "DSK001", "SATA ports are switched off", "info", over=sata_blocks,
    reason="M.2 sockets and slots often take over SATA lanes.",
    source=MANUAL,
)  # fmt: skip
def sata_lost(situation: Situation, case: Ports) -> Iterator[Finding]:
    """Name the ports that are dead in this machine."""
    if case.by:
        yield sata_lost.finding(case, needed=case.port.count, actual=case.usable, unit="ports", by=list(case.by))


class Bays(Named, frozen=True):
    """A case and the drives that want a bay in it."""

    chassis: Chassis | System
    small: int
    large: int


def bays(situation: Situation) -> Iterator[Bays]:
    """The case, when a drive wants a bay."""
    found = situation.enclosure
    own = [drive.drive for drive in situation.drives if not is_built_in(drive.name)]
    small = sum(drive.form_factor in ("2.5", "u2", "u3") for drive in own)
    large = sum(drive.form_factor == "3.5" for drive in own)
    if found and (small or large):
        yield Bays(found[0], found[1], small, large)


@rule(
    "DSK002", "More drives than bays", "error", over=bays,
    needs=("chassis.enclosure",),
    reason="2.5 and 3.5 inch drives need a bay; a 2.5 inch drive also fits a 3.5 inch bay.",
    source="Case makers' specifications",
)  # fmt: skip
def bay_count(situation: Situation, case: Bays) -> Iterator[Finding]:
    """Compare drives with bays that radiators leave, the small ones in what the large ones leave too; bays that nothing needs may
    be unknown. On an open frame drives lie on a shelf or hang on a strap: a remark."""
    enclosure = case.chassis.enclosure or Enclosure()
    room = room_in(situation, enclosure) or Room()
    small, large = _fewer(enclosure.bays_25, room.bays_25), _fewer(enclosure.bays_35, room.bays_35)
    if case.large <= (large or 0) and case.small + case.large <= (small or 0) + (large or 0):
        return
    missing = [f"{case.chassis.id}:{field}" for field, value in (("bays_25", small), ("bays_35", large)) if value is None]
    if missing:
        yield bay_count.unknown(case, *missing)
    else:
        taken = (small, large) != (enclosure.bays_25, enclosure.bays_35)
        beside = "radiator" if taken else ""
        is_open = enclosure.airflow == "open"
        yield bay_count.finding(
            case,
            "info" if is_open else None,
            needed=case.small + case.large,
            actual=(small or 0) + (large or 0),
            unit="bays",
            variant=beside,
        )


def _fewer(bays: int | None, left: int | None) -> int | None:
    return bays if left is None or bays is None else min(bays, left)
