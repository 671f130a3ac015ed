"""What files that are dropped on the window ask for."""

from pathlib import Path

from rigplanner.desktop.desk import Desk
from rigplanner.desktop.documents import ask_parts_list, open_file
from rigplanner.report.language import tr

FOREIGN = {
    ".csv": "csv",
    ".zip": "opendb",
    ".html": "coolpc",
    ".htm": "coolpc",
    ".php": "coolpc",
    ".jsonl": "pc-part-dataset",
}
"""Ending of a file to the source that the import dialog reads it as."""


def open_dropped(desk: Desk, paths: list[Path]) -> None:
    """Open a rig, add a model, import parts or prices; say what is none of these."""
    from rigplanner.desktop.dialogs.imports import open_import

    for path in paths[:1]:
        ending = path.suffix.casefold()
        if ending == ".rig" or (ending == ".json" and "config" not in path.stem.casefold()):
            open_file(desk, path)
        elif desk.view("Workloads").add.takes(str(path)):
            desk.show_tab("Workloads")
            desk.view("Workloads").add.add_file(path)
        elif (source := FOREIGN.get(ending)) is not None:
            dialog = open_import(desk)
            dialog.source.setCurrentIndex(dialog.source.findData(source))
            dialog.read(path)
        elif ending in (".txt", ".md", ".xlsx"):
            ask_parts_list(desk)
            desk.view("Start").read_list(path)
        else:
            desk.session.tell(
                tr("{name} is not a rig, model, parts list or price list.", name=path.name[:100]),
                "warning",
            )
