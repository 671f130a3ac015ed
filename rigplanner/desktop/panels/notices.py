"""What the window says when files change under it: one line, a way out, nothing lost."""

from rigplanner.desktop.document.session import Session
from rigplanner.report.language import tr


def listen(session: Session) -> None:
    """Tell the person of every change from outside."""
    session.held.changed.connect(lambda: _file_changed(session))
    session.held.gone.connect(lambda: _file_gone(session))
    session.shelf.faulted.connect(lambda fault: _catalog_fault(session, fault))


def _file_changed(session: Session) -> None:
    """Another program wrote the rig's file."""
    path = session.path
    if path is not None:
        said = tr("{name} was changed by another program.", name=path.name)
        if session.unsaved:
            said = tr(
                "{name} was changed by another program. Reload it (your edits become a copy), or"
                " keep yours.",
                name=path.name,
            )
        session.tell(said, "warning", tr("Reload"), lambda: session.open(path))


def _file_gone(session: Session) -> None:
    """The rig's file was moved or deleted."""
    path = session.path
    if path is not None:
        said = tr("{name} is no longer in its folder. The rig is kept here.", name=path.name)
        session.tell(said, "warning", tr("Save again"), lambda: session.save(path))


def _catalog_fault(session: Session, fault: str) -> None:
    """Files of the catalog cannot be read; what was in use stays."""
    session.tell(
        tr("The catalog in use is kept. {fault}", fault=fault),
        "warning",
        tr("Try again"),
        session.shelf.reload,
    )
