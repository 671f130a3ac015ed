"""From a rig to the machine that it becomes."""

from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.machine.machine import Machine
from rigplanner.machine.nodes import Growth
from rigplanner.machine.peer import peer_access
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
    machine = put_together(rig, catalog).machine()
    return replace(machine, p2p=peer_access(rig, machine), power=power_tree(rig, machine.pieces))


def put_together(rig: Rig, catalog: Catalog) -> Growth:
    """Return a machine with everything in its place, the rest of it to be worked out as it is asked for."""
    counted = pieces_of(rig, catalog)
    boards = boards_of(counted.pieces)
    seats = seat_cpus(counted.pieces, boards)
    return Growth(rig, counted, populate(rig, counted, boards, seats), seats)
