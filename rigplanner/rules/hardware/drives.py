"""Drives: a port that exists and speaks their protocol, the rate they get there, and bays."""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rigplanner.catalog.schema.parts import (
    Chassis,
    DrivePort,
    Enclosure,
    Motherboard,
    Storage,
    System,
)
from rigplanner.machine.model import DriveUse, Machine
from rigplanner.machine.pcie import coded_gbs
from rigplanner.machine.placement.placeables import PORTS_OF, drive_of
from rigplanner.rules.core.bounds import Bounds
from rigplanner.rules.core.context import Context, is_built_in
from rigplanner.rules.core.finding import Finding, Fix, Named
from rigplanner.rules.core.fixes import fix, move
from rigplanner.rules.core.moves import lands
from rigplanner.rules.core.registry import Rule, rule
from rigplanner.rules.hardware.classes.boards import (
    lists_sata,
    m2_length_bounds,
    unlisted_sata,
)
from rigplanner.rules.hardware.classes.cases import counted
from rigplanner.rules.hardware.fit.radiators import Room, room_in
from rigplanner.rules.hardware.slots import Seeker

MANUAL = "Board manuals, storage tables"
CABLED = ("mcio", "slimsas", "oculink")
"""Connectors whose cables fan out to drives."""


Homeless = Seeker[Storage]
"""A drive that wants a port."""


def port_seekers(context: Context) -> Iterator[Homeless]:
    """Every drive, and every accelerator on an M.2 module, that the owner connects to the board."""
    board = context.board
    if board is None:
        return
    problems = {problem.piece: problem for problem in reversed(context.machine.problems)}
    for drive in context.drives:
        if drive.drive.form_factor != "aic" and not is_built_in(drive.name):
            yield Homeless(
                drive.name, drive.drive, drive.board or board.board, problems.get(drive.name)
            )
    for card in context.cards:
        module = drive_of(card.name, card.card, "") if card.card.form_factor == "m2" else None
        if module is not None:
            yield Homeless(card.name, module.part, board.board, problems.get(card.name))


def stopped(entry: Rule, context: Context, case: Homeless, reason: str) -> Iterator[Finding]:
    """Yield the finding when the solver gave this reason; the fix gives the drive back to the
    solver where a port is free."""
    problem = case.problem
    if problem is None or problem.reason != reason:
        return
    yield entry.finding(
        case,
        needed=problem.needed,
        actual=problem.actual,
        fixes=_let_solver(context, case),
        place=problem.place,
        by=list(problem.by),
    )


def _let_solver(context: Context, case: Homeless) -> tuple[Fix, ...]:
    edit = move(context, case.name, "")
    free = any(len(use.pieces) < use.usable for use in _open_ports(context, case.part))
    wished = case.problem is not None and case.problem.place
    helps = edit is not None and free and wished and lands(context, (edit,), case.name)
    return (fix(context, "let-solver-place", edit, piece=case.name),) if edit and helps else ()


def _open_ports(context: Context, drive: Storage) -> list[DriveUse]:
    """Return the living ports that take a drive: where it may move to, so none where fixes are not
    sought."""
    uses = context.machine.drives if context.advise else ()
    return [use for use in uses if not use.disabled_by and _takes(use.port, drive)]


def _takes(port: DrivePort, drive: Storage) -> bool:
    if port.protocols and drive.interface not in port.protocols:
        return False
    return port.kind == (
        "m2" if drive.form_factor == "m2" else "sata" if drive.interface == "sata" else port.kind
    )


def _one_drive(context: Context, case: Homeless, missing: tuple[str, ...]) -> Bounds | None:
    """A computer that is sold whole holds one drive at least."""
    if not isinstance(case.board, System) or sum(1 for _ in port_seekers(context)) > 1:
        return None
    return Bounds(replace(case, problem=None), replace(case, problem=None))


@rule(
    "M2001",
    "No port is left for a drive",
    "error",
    over=port_seekers,
    needs=("board.layout.drives",),
    bound=_one_drive,
    reason="Each drive takes one living port of its kind.",
    source=MANUAL,
)
def no_port(context: Context, case: Homeless) -> Iterator[Finding]:
    """The solver found no port; one finding for all pieces of an item."""
    pieces = context.homeless.get((case.name.partition("/")[0].rpartition(".")[0], "no-port"), ())
    if len(pieces) <= _sata_on_cables(context, case):
        return
    if pieces and case.name == pieces[0] and _has_backplane(case):
        yield no_port.unknown(case, f"{case.board.id}:drives")
    elif pieces and case.name == pieces[0] and _wants_unlisted_key(case):
        yield no_port.unknown(case, f"{case.board.id}:key_e_sockets")
    elif pieces and case.name == pieces[0] and _is_unlisted(case):
        ports = unlisted_sata(case.board) if case.part.form_factor != "m2" else None
        if ports is None or len(pieces) > ports[0]:
            yield no_port.unknown(case, f"{case.board.id}:drives")
    elif pieces and case.name == pieces[0]:
        yield from (
            replace(finding, subjects=pieces)
            for finding in stopped(no_port, context, case, "no-port")
        )


def _sata_on_cables(context: Context, case: Homeless) -> int:
    """Return how many SATA drives the free cabled connectors of a board take that carry SATA: one
    for each lane, by a cable that fans out; 0 for other drives."""
    if case.part.interface != "sata" or case.part.form_factor == "m2":
        return 0
    return sum(
        use.port.width or use.port.count
        for use in context.machine.drives
        if use.port.kind in CABLED
        and "sata" in use.port.protocols
        and not use.pieces
        and not use.disabled_by
    )


def _wants_unlisted_key(case: Homeless) -> bool:
    """Say whether a module has key E and the board's sockets of that key, which radio modules use,
    are not in the catalog."""
    wanted = case.problem is not None and case.problem.needed == "m2e"
    return wanted and not any(port.kind == "m2e" for port in case.board.layout.drives)


def _is_unlisted(case: Homeless) -> bool:
    """Say whether a drive wants a port that the list of the board's ports may lack: SATA where it
    names none, for chipsets and server processors all have some, on ports of their own or on cabled
    connectors; M.2 where it names neither, but only such connectors."""
    wanted = PORTS_OF.get((case.part.form_factor, case.part.interface), ())
    if not isinstance(case.board, Motherboard) or lists_sata(case.board.layout):
        return False
    sockets = any(port.kind == "m2" for port in case.board.layout.drives)
    return "sata" in wanted or ("m2" in wanted and not sockets)


def _has_backplane(case: Homeless) -> bool:
    """Say whether a system has bays for such a drive, but no port of its kind is listed: the
    backplane is not known."""
    enclosure = case.board.enclosure if isinstance(case.board, System) else None
    if enclosure is None or case.part.form_factor == "m2":
        return False
    kinds = PORTS_OF.get((case.part.form_factor, case.part.interface), ())
    bays = (enclosure.bays_25 or 0) + (enclosure.bays_35 or 0)
    return bays > 0 and not any(port.kind in kinds for port in case.board.layout.drives)


@rule(
    "M2002",
    "Drive port does not exist on this board",
    "error",
    over=port_seekers,
    needs=("board.layout.drives",),
    bound=_one_drive,
    reason="A wished place must be one of the board's.",
    source=MANUAL,
)
def port_missing(context: Context, case: Homeless) -> Iterator[Finding]:
    """The wished port is not on the board."""
    yield from stopped(port_missing, context, case, "port-missing")


@rule(
    "M2003",
    "Drive port is taken",
    "error",
    over=port_seekers,
    needs=("board.layout.drives",),
    bound=_one_drive,
    reason="An M.2 socket holds one drive, a block of SATA ports as many as it has.",
    source=MANUAL,
)
def port_taken(context: Context, case: Homeless) -> Iterator[Finding]:
    """The wished port is full."""
    yield from stopped(port_taken, context, case, "port-taken")


@rule(
    "M2004",
    "Drive port is switched off",
    "error",
    over=port_seekers,
    needs=("board.layout.drives",),
    bound=_one_drive,
    reason="Other places, or the class of CPU, take the lanes of some ports away.",
    source=MANUAL,
)
def port_disabled(context: Context, case: Homeless) -> Iterator[Finding]:
    """A lane mode switches the wished port off."""
    yield from stopped(port_disabled, context, case, "port-disabled")


@rule(
    "M2005",
    "Port does not speak the drive's protocol",
    "error",
    over=port_seekers,
    needs=("board.layout.drives",),
    bound=_one_drive,
    reason="Some M.2 sockets carry only NVMe, some only SATA.",
    source=MANUAL,
)
def protocol(context: Context, case: Homeless) -> Iterator[Finding]:
    """The wished port lacks the protocol."""
    if case.problem is not None and not case.problem.place and _is_unlisted(case):
        if case.problem.reason == "protocol":
            yield protocol.unknown(case, f"{case.board.id}:drives")
        return
    yield from stopped(protocol, context, case, "protocol")


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


def m2_drives(context: Context) -> Iterator[InPort]:
    """M.2 drives in M.2 sockets."""
    for drive in context.drives:
        port = drive.port
        if (
            port is None
            or port.kind != "m2"
            or drive.drive.form_factor != "m2"
            or is_built_in(drive.name)
        ):
            continue
        if drive.use and drive.board:
            yield InPort(drive.name, drive.drive, port, drive.board, drive.use.gen, drive.use.width)


@rule(
    "M2006",
    "Drive is too long for the socket",
    "error",
    over=m2_drives,
    needs=("drive.m2_length_mm", "port.lengths_mm"),
    bound=m2_length_bounds,
    reason="The socket has a stand-off only at the lengths its maker lists.",
    source=MANUAL,
)
def length(context: Context, case: InPort) -> Iterator[Finding]:
    """Compare the drive's length with the socket's, in mm."""
    size = case.drive.m2_length_mm
    if size is None or size in case.port.lengths_mm:
        return
    free = [use.port for use in _open_ports(context, case.drive) if not use.pieces]
    homes = [port.id for port in free if size in port.lengths_mm]
    edit = move(context, case.name, homes[0]) if homes else None
    fixes = (fix(context, "move-drive", edit, piece=case.name, places=homes[:1]),) if edit else ()
    yield length.finding(
        case, needed=size, actual=max(case.port.lengths_mm), unit="mm", fixes=fixes
    )


def nvme_in_m2(context: Context) -> Iterator[InPort]:
    """NVMe drives in M.2 sockets."""
    for case in m2_drives(context):
        if case.drive.interface == "nvme":
            yield case


@rule(
    "M2007",
    "Drive runs below its rate in this socket",
    "info",
    over=nvme_in_m2,
    reason="The link takes the lower generation and width of drive and socket.",
    source="PCI-SIG rates",
)
def slow_socket(context: Context, case: InPort) -> Iterator[Finding]:
    """Compare the link in GB/s with what the drive can read, where both are known: a remark is
    worth no question."""
    able = case.drive.read_gbs or coded_gbs(case.drive.gen, case.drive.width)
    actual = coded_gbs(case.gen, case.width)
    if able is None or actual is None or actual >= able:
        return
    free = [use for use in _open_ports(context, case.drive) if not use.pieces]
    better = [use for use in free if (coded_gbs(use.gen, use.width) or 0) >= able]
    edit = move(context, case.name, better[0].port.id) if better else None

    def keeps_up(machine: Machine) -> bool:
        return any(
            case.name in use.pieces and (coded_gbs(use.gen, use.width) or 0.0) >= able
            for use in machine.drives
        )

    helps = edit is not None and lands(context, (edit,), case.name, better[0].port.id, keeps_up)
    fixes = (
        (fix(context, "move-drive", edit, piece=case.name, places=[better[0].port.id]),)
        if edit and helps
        else ()
    )
    yield slow_socket.finding(
        case, needed=round(able, 1), actual=round(actual, 1), unit="GB/s", fixes=fixes
    )


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


def sata_blocks(context: Context) -> Iterator[Ports]:
    """Blocks of SATA ports."""
    for use in context.machine.drives:
        board = context.board_of(use.board)
        if use.port.kind == "sata" and board is not None:
            yield Ports(
                use.board,
                use.port,
                board,
                0 if use.disabled_by and use.usable in (0, 1) else use.usable,
                use.disabled_by,
            )


@rule(
    "DSK001",
    "SATA ports are switched off",
    "info",
    over=sata_blocks,
    reason="M.2 sockets and slots often take over SATA lanes.",
    source=MANUAL,
)
def sata_lost(context: Context, case: Ports) -> Iterator[Finding]:
    """Name the ports that are dead in this machine."""
    if case.by:
        yield sata_lost.finding(
            case, needed=case.port.count, actual=case.usable, unit="ports", by=list(case.by)
        )


class Bays(Named, frozen=True):
    """A case and the drives that want a bay in it."""

    chassis: Chassis | System
    small: int
    large: int


def bays(context: Context) -> Iterator[Bays]:
    """The case, when a drive wants a bay."""
    found = context.enclosure
    own = [drive.drive for drive in context.drives if not is_built_in(drive.name)]
    small = sum(drive.form_factor in ("2.5", "u2", "u3") for drive in own)
    large = sum(drive.form_factor == "3.5" for drive in own)
    if found and (small or large):
        yield Bays(found[0], found[1], small, large)


@rule(
    "DSK002",
    "More drives than bays",
    "error",
    over=bays,
    needs=("chassis.enclosure",),
    reason="2.5 and 3.5 inch drives need a bay; a 2.5 inch drive also fits a 3.5 inch bay.",
    source="Case makers' specifications",
)
def bay_count(context: Context, case: Bays) -> Iterator[Finding]:
    """Compare drives with bays that radiators leave, the small ones in what the large ones leave
    too; bays that nothing needs may be unknown. On an open frame drives lie on a shelf or hang on a
    strap: a remark."""
    enclosure = case.chassis.enclosure or Enclosure()
    room = room_in(context, enclosure) or Room()
    least, most = (_left(enclosure, room, end) for end in (0, 1))
    if _held(case, least):
        return
    is_open = enclosure.airflow == "open"
    known = _left(enclosure, Room(), 0) == _left(enclosure, Room(), 1)
    if not is_open and not known and (most is None or _held(case, most)):
        fields = ("bays_25", "bays_35")
        missing = (field for field in fields if getattr(enclosure, field) is None)
        yield bay_count.unknown(case, *(f"{case.chassis.id}:{field}" for field in missing))
        return
    small, large = most or (0, 0)
    tall = case.large > large and case.small + case.large <= small + large
    taken = (small, large) != _left(enclosure, Room(), 1)
    yield bay_count.finding(
        case,
        "info" if is_open else None,
        needed=case.large if tall else case.small + case.large,
        actual=large if tall else small + large,
        unit="bays",
        variant="" if is_open else "radiator" if taken else "large" if tall else "",
    )


Pair = tuple[int, int]


def _left(space: Enclosure, room: Room, end: Literal[0, 1]) -> Pair | None:
    """Return the fewest (0) or the most (1) bays of 2.5 and 3.5 inch that radiators leave; of
    a case without class none at least, None at most."""
    small, large = counted(space, "bays_25"), counted(space, "bays_35")
    if end == 1 and (small is None or large is None):
        return None
    left = (
        _fewer(int(small[end]) if small else 0, room.bays_25),
        _fewer(int(large[end]) if large else 0, room.bays_35),
    )
    return left[0] or 0, left[1] or 0


def _held(case: Bays, bays: Pair | None) -> bool:
    """Say whether bays of both sizes hold the drives."""
    return bays is not None and case.large <= bays[1] and case.small + case.large <= sum(bays)


def _fewer(bays: int | None, left: int | None) -> int | None:
    return bays if left is None or bays is None else min(bays, left)
