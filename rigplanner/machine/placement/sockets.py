"""CPUs into sockets, memory modules into memory slots."""

from msgspec import Struct

from rigplanner.catalog.schema.parts import CPU, MemoryKit
from rigplanner.machine.model import CpuNode, Piece, PlacementProblem
from rigplanner.machine.pieces import Board, home_of


class Seats(Struct, frozen=True):
    """The CPU of each socket by board name, the nodes in order, and what found no socket or memory
    slot."""

    by_board: dict[str, tuple[CPU | None, ...]]
    nodes: tuple[CpuNode, ...]
    first_index: dict[str, int]
    problems: tuple[PlacementProblem, ...]


def seat_cpus(pieces: tuple[Piece, ...], boards: tuple[Board, ...]) -> Seats:
    """Seat CPUs in the order of the rig: built-in ones on their own board, loose ones on the first
    board with a free socket. A CPU of another socket is seated all the same, with a problem, so
    that the rest can be judged."""
    seats: dict[str, list[Piece | None]] = {
        board.name: [None] * len(board.layout.sockets) for board in boards
    }
    problems: list[PlacementProblem] = []
    for piece in pieces:
        if isinstance(piece.part, CPU) and boards:
            problem = _sit(piece, piece.part, boards, seats)
            problems += [problem] if problem else []
    nodes: list[CpuNode] = []
    first_index: dict[str, int] = {}
    for board in boards:
        first_index[board.name] = len(nodes)
        seated = [piece for piece in seats[board.name] if piece is not None]
        nodes += [
            CpuNode(index=len(nodes) + n, piece=p.name, cpu=p.part, board=board.name)
            for n, p in enumerate(seated)
            if isinstance(p.part, CPU)
        ]
    parts = {name: tuple(_cpu(piece) for piece in row) for name, row in seats.items()}
    if not boards:
        loose = [(piece.name, piece.part) for piece in pieces if isinstance(piece.part, CPU)]
        nodes = [
            CpuNode(index=index, piece=name, cpu=cpu) for index, (name, cpu) in enumerate(loose)
        ]
    return Seats(parts, tuple(nodes), first_index, (*problems, *memory_problems(pieces, boards)))


def _cpu(piece: Piece | None) -> CPU | None:
    return piece.part if piece is not None and isinstance(piece.part, CPU) else None


def _sit(
    piece: Piece, cpu: CPU, boards: tuple[Board, ...], seats: dict[str, list[Piece | None]]
) -> PlacementProblem | None:
    home = home_of(piece.name, boards)
    choices = [home] if home is not None else list(boards)
    for board in choices:
        for index, socket in enumerate(board.layout.sockets):
            if cpu.socket in (None, socket) and seats[board.name][index] is None:
                seats[board.name][index] = piece
                return None
    for board in choices:
        for index, socket in enumerate(board.layout.sockets):
            if seats[board.name][index] is None:
                seats[board.name][index] = piece
                place = f"cpu{index}"
                return PlacementProblem(
                    piece=piece.name,
                    reason="socket-mismatch",
                    place=place,
                    needed=cpu.socket,
                    actual=socket,
                )
    sockets = sum(len(board.layout.sockets) for board in choices)
    holders = tuple(p.name for board in choices for p in seats[board.name] if p is not None)
    return PlacementProblem(
        piece=piece.name, reason="no-socket", by=holders, needed=len(holders) + 1, actual=sockets
    )


def memory_problems(
    pieces: tuple[Piece, ...], boards: tuple[Board, ...]
) -> tuple[PlacementProblem, ...]:
    """Return the kits for which the boards have no memory slot left."""
    room = [board.layout.memory_slots for board in boards]
    if not boards or None in room:
        return ()
    total = sum(slots or 0 for slots in room)
    taken = 0
    problems: list[PlacementProblem] = []
    for piece in pieces:
        if isinstance(piece.part, MemoryKit):
            taken += piece.part.modules
            if taken > total:
                problems.append(
                    PlacementProblem(
                        piece=piece.name, reason="no-memory-slot", needed=taken, actual=total
                    )
                )
    return tuple(problems)
