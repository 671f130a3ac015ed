"""What deeds and dialogs may ask of the window. The window stands above them all, so none of them
imports it."""

from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look.theme import Scheme
from rigplanner.desktop.parts.build_list import BuildList

if TYPE_CHECKING:
    from rigplanner.desktop.parts.view import PartsView


class Desk(Protocol):
    """The window as those below it see it."""

    session: Session
    actions_by_id: dict[str, QAction]
    build: BuildList

    @property
    def parts(self) -> "PartsView":
        """The view of the catalog."""

    def window(self) -> QWidget:
        """The widget that dialogs lie over."""

    def close(self) -> bool:
        """Close the window."""

    def view(self, title: str) -> Any:
        """The view of a tab."""

    def tab_title(self) -> str:
        """The English title of the tab that is shown."""

    def start_tour(self) -> object:
        """Begin the tour of the window."""

    def show_tab(self, title: str) -> None:
        """Bring a tab to the front."""

    def open_tab(self, title: str) -> None:
        """Bring a tab to the front and the keyboard to its first field."""

    def show_first_item(self) -> None:
        """Show the Parts tab at the rig's first part."""

    def show_part(self, kind: str, part_id: str) -> None:
        """Show one part in the catalog."""

    def focus_filter(self) -> None:
        """Put the cursor into the catalog's filter."""

    def focus_zoo(self, model: str = "") -> None:
        """Put the cursor into the field that adds a workload."""

    def open_palette(self) -> None:
        """Show the field that searches everything."""

    def show_shortcuts(self) -> None:
        """Show the sheet of shortcuts."""

    def go_to_next_pane(self) -> None:
        """Bring the keyboard to the next panel, from the last one back to the view."""

    def toggle_panel(self, name: str) -> None:
        """Show or hide a panel."""

    def use_theme(self, scheme: Scheme) -> None:
        """Take other colours and remember them."""

    def use_language(self, code: str) -> object:
        """Take another language and remember it."""

    def use_text(self, percent: int) -> object:
        """Take another size of text, in percent of the system's, and remember it."""
