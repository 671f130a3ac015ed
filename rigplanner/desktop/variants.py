"""Variants of the open rig: keep the present state under a name, switch to another, remove one."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QMenu

from rigplanner.desktop.controls.tips import hint
from rigplanner.desktop.controls.widgets import button, column, label, row
from rigplanner.desktop.desk import Desk
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look.theme import row_px
from rigplanner.desktop.words import shortened
from rigplanner.report.language import tr
from rigplanner.rig.edits import Edit
from rigplanner.rig.variants import free_name, is_taken, variant_names

LONGEST_NAME = 60


class VariantDialog(QDialog):
    """Asks for the name of a variant; Keep is dead while the name is taken."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Keep as variant"))
        self._session = desk.session
        self.name = QLineEdit(proposed_name(desk.session))
        self.name.setAccessibleName(tr("Name of the variant"))
        self.name.setMaxLength(LONGEST_NAME)
        hint(
            self.name,
            tr("What this state of the rig is called."),
            tr("It stays in the rig's file, and Compare shows it beside the open state."),
        )
        self.note = label("", "small", wrap=True)
        self.keep = button(tr("Keep"), self._keep, role="primary")
        self.keep.setDefault(True)
        keys = QDialogButtonBox()
        keys.addButton(self.keep, QDialogButtonBox.ButtonRole.AcceptRole)
        keys.addButton(button(tr("Cancel"), self.reject), QDialogButtonBox.ButtonRole.RejectRole)
        self.name.textChanged.connect(lambda _: self._judge())
        self.setLayout(
            column(label(tr("Name")), self.name, self.note, row(1, keys), margins=(16, 16, 16, 12))
        )
        self.setMinimumWidth(row_px() * 16)
        self.name.selectAll()
        self._desk = desk
        self._judge()

    def _judge(self) -> None:
        name = self.name.text().strip()
        taken = bool(name) and is_taken(self._session.rig, name)
        self.note.setText(tr("This name is taken; names are unique.") if taken else "")
        self.keep.setEnabled(bool(name) and not taken)

    def _keep(self) -> None:
        if keep_variant(self._desk, self.name.text()):
            self.accept()


def proposed_name(session: Session) -> str:
    """Return a free name: what the last step did, else "Variant"."""
    step = session.undo_name() if session.position else ""
    return free_name(session.rig, shortened(step, LONGEST_NAME - 4) or tr("Variant"))


def ask_variant(desk: Desk) -> VariantDialog:
    """Ask for a name and keep the present state under it."""
    dialog = VariantDialog(desk)
    dialog.open()
    return dialog


def keep_variant(desk: Desk, name: str) -> bool:
    """Keep the present state; False when the name cannot be had."""
    name, session = name.strip(), desk.session
    kept = session.edit(tr("Keep variant {name}", name=name), Edit("keep_variant", {"name": name}))
    if kept:
        session.tell(
            tr("Kept {name}. Go on changing the rig; the variant stays as it is.", name=name),
            "info",
            tr("Compare"),
            lambda: desk.show_tab("Compare"),
        )
    return kept


def switch_to(session: Session, name: str) -> None:
    """Make a variant the open state; the former one is kept under its name."""
    if session.edit(tr("Switch to {name}", name=name), Edit("take_variant", {"name": name})):
        session.tell(tr("Switched to {name}.", name=name), "info", tr("Undo"), session.undo)


def drop(session: Session, name: str) -> None:
    """Remove a variant, with a way back."""
    step = tr("Remove variant {name}", name=name)
    if session.edit(step, Edit("remove_variant", {"name": name})):
        session.tell(tr("Removed {name}.", name=name), "info", tr("Undo"), session.undo)


def fill_variants(session: Session, menu: QMenu) -> None:
    """Fill the menu of the open rig's variants."""
    menu.clear()
    names = variant_names(session.rig) if session.is_open else ()
    deeds: tuple[tuple[str, Callable[[Session, str], None]], ...] = (
        (tr("Switch to {name}"), switch_to),
        (tr("Remove {name}"), drop),
    )
    for n, (words, deed) in enumerate(deeds):
        if n and names:
            menu.addSeparator()
        for name in names:
            shown = words.replace("{name}", shortened(name, 40)).replace("&", "&&")
            menu.addAction(shown, partial(deed, session, name))
    if not names:
        menu.addAction(tr("None yet: keep one with Rig > Keep as variant…")).setEnabled(False)
