"""The ways out of the house: the quote and the exports, to a file or to the clipboard."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

from PySide6.QtCore import QLocale
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from rigplanner.desktop.document.ask_file import ask_file
from rigplanner.desktop.document.session import Session
from rigplanner.report.forms import form_suffix, form_title
from rigplanner.report.language import tr
from rigplanner.whole_file import write_whole


def file_name(name: str) -> str:
    """Return a rig's name as a file name."""
    kept = "".join(c if c.isalnum() or c in " -_.+" else "-" for c in name).strip(" .-")
    return kept[:80] or "rig"


def ask_export(
    parent: QWidget,
    session: Session,
    title: str,
    name: str,
    form: str,
    chosen: Callable[[Path], object],
) -> None:
    """Ask where to write `name` in a form."""
    suffix = form_suffix(form)
    kinds = f"{form_title(form)} (*.{suffix})"
    ask_file(
        parent,
        title,
        chosen,
        kinds,
        "new file",
        session.folder,
        f"{file_name(name)}.{suffix}",
        suffix,
    )


def write(session: Session, path: Path, make: Callable[[], bytes | None]) -> bool:
    """Write what `make` returns, unless it is None, and say so; when the disk refuses, say why and
    offer to try again."""
    content = make()
    if content is None:
        return False
    try:
        write_whole(path, content)
    except OSError as fault:
        said = tr("{path}: not written ({reason}).", path=path, reason=fault.strerror or fault)
        session.tell(said, "error", tr("Try again"), lambda: write(session, path, make))
        return False
    session.tell(tr("Saved {name}.", name=path.name))
    return True


def paper_of(session: Session) -> str:
    """Return the paper of quotes and comparisons, "A4" or "Letter": the one chosen, else the usual
    one where the system stands."""
    american = QLocale.system().measurementSystem() == QLocale.MeasurementSystem.ImperialUSSystem
    return session.preferences.now.paper or ("Letter" if american else "A4")


def quote_bytes(session: Session) -> bytes | None:
    """Return the quote's PDF; None, and a word of it, when the rig could not be assessed."""
    from rigplanner.report.quote.pdf import quote_pdf

    session.record_now()
    assessment = session.assessment
    if assessment is None:
        session.tell(tr("There is no quote: the rig could not be assessed."), "error")
        return None
    return quote_pdf(
        assessment, session.catalog, date.fromisoformat(session.today), paper_of(session)
    )


def save_quote(session: Session, path: Path) -> bool:
    """Write the very bytes that the preview shows."""
    return write(session, path, lambda: quote_bytes(session))


def ask_save_quote(parent: QWidget, session: Session) -> None:
    """Ask where to write the quote."""
    ask_export(
        parent,
        session,
        tr("Save the quote"),
        session.rig.name,
        "pdf",
        lambda path: save_quote(session, path),
    )


def exported(session: Session, form: str) -> bytes | None:
    """Return the quote in one of the forms of export; None, and a word of it, when the rig could
    not be assessed."""
    from rigplanner.report.quote.content import quote_content
    from rigplanner.report.quote.export import export
    from rigplanner.report.quote.workbook import quote_workbook

    session.record_now()
    assessment = session.assessment
    if assessment is None:
        session.tell(tr("Nothing to export yet: this rig could not be checked."), "error")
        return None
    content = quote_content(assessment, session.catalog, date.fromisoformat(session.today))
    return quote_workbook(content) if form == "xlsx" else export(content, form).encode()


def copy_as(session: Session, form: str) -> None:
    """Put the quote on the clipboard."""
    if (content := exported(session, form)) is not None:
        QGuiApplication.clipboard().setText(content.decode())
        session.tell(tr("Copied as {form}.", form=form_title(form)))


def copy_findings(session: Session) -> None:
    """Put the verdict and all findings on the clipboard."""
    from rigplanner.report.quote.content import quote_content
    from rigplanner.report.quote.export import findings_text

    assessment = session.assessment
    if assessment is None:
        session.tell(tr("There is nothing to copy: the rig could not be assessed."), "error")
        return
    content = quote_content(assessment, session.catalog, date.fromisoformat(session.today))
    QGuiApplication.clipboard().setText(findings_text(content))
    session.tell(tr("Copied the findings."))
