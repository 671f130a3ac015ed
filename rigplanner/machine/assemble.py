"""From a rig to the machine that it becomes."""

from rigplanner.catalog.load import Catalog
from rigplanner.machine.builder import MachineBuilder
from rigplanner.machine.model import Machine
from rigplanner.machine.pieces import boards_of, pieces_of
from rigplanner.rig.document import Rig


def assemble(rig: Rig, catalog: Catalog) -> Machine:
    """Return the machine that a rig becomes: pieces in their places, links, matrix, power, and what
    cannot be.

    Parts without a place get the best one; a wished place is kept or refused with a
    `PlacementProblem`. Never raises for a rig that could be read: unknown parts are named in
    `Machine.unknown`, unknown figures stay None."""
    return put_together(rig, catalog).machine()


def put_together(rig: Rig, catalog: Catalog) -> MachineBuilder:
    """Return a machine to be worked out as it is asked for."""
    counted = pieces_of(rig, catalog)
    return MachineBuilder(rig, counted, boards_of(counted.pieces))
