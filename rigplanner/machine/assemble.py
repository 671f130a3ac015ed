"""From a rig to the machine that it becomes."""

from rigplanner.catalog.load import Catalog
from rigplanner.machine.machine import Machine
from rigplanner.machine.nodes import grow
from rigplanner.machine.pieces import boards_of, pieces_of
from rigplanner.machine.populate import populate
from rigplanner.machine.power import power_tree
from rigplanner.machine.sockets import seat_cpus
from rigplanner.rig.document import Rig


def assemble(rig: Rig, catalog: Catalog) -> Machine:
    """Return the machine that a rig becomes: pieces in their places, links, matrix, power, and what cannot be.

    Parts without a place get the best one; a wished place is kept or refused with a `PlacementProblem`. Never raises for a
    rig that could be read: unknown parts are named in `Machine.unknown`, unknown figures stay None.
    """
    counted = pieces_of(rig, catalog)
    boards = boards_of(counted.pieces)
    seats = seat_cpus(counted.pieces, boards)
    populated = populate(rig, counted, boards, seats)
    grown = grow(rig, counted.pieces, populated, seats)
    return Machine(
        pieces=counted.pieces,
        cpus=seats.nodes,
        gpus=grown.gpus,
        nics=grown.nics,
        storage=grown.storage,
        slots=grown.slots,
        drives=grown.drives,
        edges=grown.edges,
        matrix=grown.matrix,
        islands=grown.islands,
        p2p=grown.p2p,
        problems=(*seats.problems, *(problem for one in populated for problem in one.settled.problems)),
        power=power_tree(rig, counted.pieces),
        lanes_used=grown.lanes_used,
        lanes_total=grown.lanes_total,
        unknown=(*(f"{part}:*" for part in counted.missing), *grown.unknown),
    )
