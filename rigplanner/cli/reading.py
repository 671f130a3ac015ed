"""Rigs named on the command line, read and assessed."""

from pathlib import Path

from rigplanner.catalog.load import Catalog, CatalogFault, shipped_catalog
from rigplanner.cli.faults import InputFault
from rigplanner.rig.document import Rig
from rigplanner.rig.files import RigFault, read_rig
from rigplanner.rules.assess import Assessment, assess


def open_rig(path: Path) -> Rig:
    """Return the rig in a file; raise InputFault with the reason."""
    try:
        return read_rig(path)
    except RigFault as fault:
        raise InputFault(str(fault)) from fault


def open_catalog() -> Catalog:
    """Return the shipped catalog; raise InputFault when it is broken."""
    try:
        return shipped_catalog()
    except (CatalogFault, FileNotFoundError) as fault:
        raise InputFault(str(fault)) from fault


def open_assessment(path: Path) -> tuple[Assessment, Catalog]:
    """Return what is known of the rig in a file, and the catalog it was judged with."""
    rig, catalog = open_rig(path), open_catalog()
    return assess(rig, catalog), catalog
