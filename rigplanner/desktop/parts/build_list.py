"""The left panel: the build list, the settings of the chosen item, the total."""

from PySide6.QtCore import (
    QEvent,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QFontMetrics,
    QKeyEvent,
    QPainter,
)
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QListView,
    QMenu,
    QSizePolicy,
    QSpinBox,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from rigplanner.catalog.schema.parts import GPU, KINDS, Price
from rigplanner.desktop.controls.tips import plain
from rigplanner.desktop.controls.widgets import (
    button,
    column,
    give_viewport,
    icon_button,
    indented,
    label,
    panel,
    restyle,
    row,
    rule,
    strip,
)
from rigplanner.desktop.document.change import Change
from rigplanner.desktop.document.session import Session
from rigplanner.desktop.look import icons
from rigplanner.desktop.look.fade import Figure
from rigplanner.desktop.look.theme import look, row_px, sized_font, small_font
from rigplanner.desktop.look.tokens import STATE_OF
from rigplanner.desktop.parts import outline
from rigplanner.desktop.parts.build_model import ROW_ROLE, BuildModel, BuildRow, build_rows
from rigplanner.desktop.parts.carried import takes
from rigplanner.desktop.words import KIND_WORDS, VERDICT_ICONS
from rigplanner.economics.totals import Totals
from rigplanner.report.language import language, listed, tr, trn
from rigplanner.report.words.rates import apart_text, total_text, uncounted_text
from rigplanner.rig.document import Item, Role, part_of
from rigplanner.rig.edits import LARGEST_QUANTITY, Edit

Index = QModelIndex | QPersistentModelIndex


class BuildDelegate(QStyledItemDelegate):
    """Paints kind icon, name and badge on the first line, place and price on the second."""

    def __init__(self, view: QListView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line: BuildRow = index.data(ROW_ROLE)
        return QSize(200, round(row_px() * (1.7 if line.uid else 1.15)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: BuildRow = index.data(ROW_ROLE)
        area: QRect = option.rect
        tokens = look.tokens
        if self._view.selectionModel().isSelected(self._view.model().index(index.row(), 0)):
            painter.fillRect(area, tokens.color("selection"))
        ratio = painter.device().devicePixelRatio()
        token = "text" if line.uid else "soft"
        side = icons.size_px()
        top = area.top() + (6 if line.uid else (area.height() - side) // 2)
        if line.outline is not None:
            wide, high = side + 12, area.height() - 12
            drawn = outline.pixmap(line.outline, wide, high, tokens.color("soft"), ratio)
            painter.drawPixmap(area.left() + 5, area.top() + 6, drawn)
        else:
            painter.drawPixmap(area.left() + 12, top, icons.pixmap(line.kind, "soft", ratio))
        left, width = area.left() + side + 20, area.width() - 2 * side - 36
        painter.setFont(sized_font(1.0))
        painter.setPen(tokens.color(token))
        metrics = QFontMetrics(painter.font())
        text = line.title if line.uid else tr("Choose {kind}", kind=in_sentence(line.kind))
        height = metrics.height()
        first = QRect(left, top - (height - side) // 2, width, height)
        painter.drawText(
            first,
            Qt.AlignmentFlag.AlignVCenter,
            metrics.elidedText(text, Qt.TextElideMode.ElideRight, width),
        )
        if line.verdict:
            sign = icons.pixmap(VERDICT_ICONS[line.verdict], STATE_OF[line.verdict], ratio)
            painter.drawPixmap(area.right() - side - 8, top, sign)
        if line.uid:
            painter.setFont(small_font())
            small = QFontMetrics(painter.font())
            second = QRect(left, first.bottom(), width + 20, small.height())
            shown = small.elidedText(line.detail, Qt.TextElideMode.ElideRight, width + 20)
            for text, token in _detail_pieces(line, shown):
                painter.setPen(tokens.color(token))
                painter.drawText(second, Qt.AlignmentFlag.AlignVCenter, text)
                second.setLeft(second.left() + small.horizontalAdvance(text))
        if self._view.hasFocus() and index == self._view.currentIndex():
            painter.fillRect(area.left(), area.top(), 2, area.height(), tokens.color("accent"))


def _detail_pieces(line: BuildRow, shown: str) -> tuple[tuple[str, str], ...]:
    """Return what is shown of the second line in pieces with their tokens: the age of a stale price
    is amber."""
    head = f"{line.price} · "
    if not line.stale or not line.price_age or not shown.startswith(head + line.price_age):
        return ((shown, "soft"),)
    return (
        (head, "soft"),
        (line.price_age, "warns"),
        (shown[len(head) + len(line.price_age) :], "soft"),
    )


def in_sentence(kind: str) -> str:
    """Return a kind as it stands in a sentence: in English with its article."""
    word = KIND_WORDS[kind]
    word = word if word.isupper() or kind == "bridge" else word.lower()
    if language() != "en":
        return word
    return (
        f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
        if kind not in ("memory", "storage")
        else word
    )


class BuildView(QListView):
    """The list; Delete takes an item out, Enter opens its kind in the catalog; parts can be dropped
    on it."""

    chosen = Signal(object)
    removed = Signal()
    dropped = Signal(object)
    menu_asked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAcceptDrops(True)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_asked.emit(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self._judge(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._judge(event)

    def _judge(self, event: QDragMoveEvent) -> None:
        if takes(event.mimeData()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
        else:
            event.ignore()

    def dropEvent(self, event: QDropEvent) -> None:
        self.dropped.emit(event.mimeData())
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.chosen.emit(self.currentIndex().data(ROW_ROLE))
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit()
        else:
            super().keyPressEvent(event)


class BuildList(QWidget):
    """`kind_chosen` asks for a kind of part, with the uid of the item to replace or "";
    `link_dropped` carries the address of a page."""

    kind_chosen = Signal(str, str)
    total_asked = Signal()
    link_dropped = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._filling = False
        self.model = BuildModel(self)
        self.view = BuildView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(BuildDelegate(self.view))
        self.view.setAccessibleName(tr("Build list"))
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.chosen.connect(self._choose)
        self.view.removed.connect(self.remove_current)
        self.view.dropped.connect(self._take_drop)
        self.view.clicked.connect(lambda index: self._choose(index.data(ROW_ROLE)))
        self.view.selectionModel().currentChanged.connect(self._show_item)
        self.add = button(tr("Add part"), self.open_menu, "plus")
        self._editor = self._make_editor()
        self._total = Figure("strong")
        self._total.setCursor(Qt.CursorShape.PointingHandCursor)
        self._total.setToolTip(plain(tr("Show how the total is calculated")))
        self._total.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._total.setProperty("opens", True)
        self._total.setIndent(0)
        self._total.setAccessibleName(tr("Total"))
        self._total.installEventFilter(self)
        # a long total must not ask for more width than the panel has: the note below would get the
        # height that it needs at that width
        self._total.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._note = label("", "small", wrap=True)
        sums = panel(column(self._total, self._note, margins=(12, 4, 12, 8), spacing=0))
        sums.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.setMinimumWidth(row_px() * 9)
        self.setLayout(
            column(
                self.view,
                strip(row(self.add, 1, margins=(8, 4, 8, 4))),
                self._editor,
                rule(),
                sums,
                spacing=0,
            )
        )
        session.rig_changed.connect(self._refresh)
        session.subject_pointed.connect(self._point)
        look.look_changed.connect(give_viewport(self.view).update)
        self.model.show(build_rows(session))

    def _make_editor(self) -> QWidget:
        self._quantity = QSpinBox(minimum=1, maximum=LARGEST_QUANTITY)
        self._quantity.setAccessibleName(tr("Quantity"))
        self._quantity.valueChanged.connect(self._set_quantity)
        self._price = QDoubleSpinBox(minimum=0, maximum=1e9, decimals=2)
        self._price.setAccessibleName(tr("Price each"))
        self._price.setSpecialValueText(tr("catalog"))
        self._price.setKeyboardTracking(False)
        self._price.valueChanged.connect(self._set_price)
        self._cap = QSpinBox(minimum=0, maximum=2000, singleStep=10)
        self._cap.setAccessibleName(tr("Power limit in watts"))
        self._cap.setSuffix("\u202fW")
        self._cap.setSpecialValueText(tr("none"))
        self._cap.setKeyboardTracking(False)
        self._cap.valueChanged.connect(self._set_cap)
        self._role = QComboBox()
        self._role.setAccessibleName(tr("What the card is for"))
        for words, role in (
            (tr("not set"), None),
            (tr("jobs"), "compute"),
            (tr("monitors"), "display"),
            (tr("both"), "both"),
        ):
            self._role.addItem(words, role)
        self._role.activated.connect(lambda _: self._set_role(self._role.currentData()))
        for box in (self._quantity, self._price, self._cap):
            indented(box)
        self._form = QFormLayout()
        self._form.setContentsMargins(12, 8, 12, 8)
        self._form.setSpacing(4)
        self._remove = icon_button("trash", tr("Remove the item"), self.remove_current)
        quantity = panel(row(self._quantity, 1, self._remove))
        self._counted = label(tr("Quantity"))
        self._form.addRow(self._counted, quantity)
        self._form.addRow(tr("Price each"), self._price)
        self._form.addRow(tr("Power limit"), self._cap)
        self._form.addRow(tr("For"), self._role)
        editor = strip(column(rule(), panel(self._form), spacing=0))
        editor.hide()
        return editor

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A click on the total, or Enter, asks for its breakdown."""
        keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        pressed = (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() in keys
        )
        if watched is self._total and (pressed or event.type() == QEvent.Type.MouseButtonRelease):
            self.total_asked.emit()
        return super().eventFilter(watched, event)

    def current(self) -> Item | None:
        """Return the item under the cursor."""
        index = self.view.currentIndex()
        uid = index.data(ROW_ROLE).uid if index.isValid() else None
        return self._session.rig.item(uid) if uid else None

    def _refresh(self, _: Change) -> None:
        kept: BuildRow | None = self.view.currentIndex().data(ROW_ROLE)
        self.model.show(build_rows(self._session))
        if kept is not None:
            self._stay_at(kept)
        self._show_item()
        self._show_total()

    def _stay_at(self, kept: BuildRow) -> None:
        """Keep the cursor at an item; at the first part of a kind once one was chosen for it."""
        kinds = [each.kind for each in self.model.rows]
        line = self.model.row_of(kept.uid) if kept.uid else None
        if line is None and not kept.uid and kept.kind in kinds:
            line = kinds.index(kept.kind)
        if line is not None:
            self.view.setCurrentIndex(self.model.index(line))

    def _show_total(self) -> None:
        assessment = self._session.assessment
        if assessment is None:
            self._total.show_text("")
            self._note.setText("")
            return
        sums = assessment.totals
        total = total_text(sums)
        if assessment.rig.items and not sums.total:
            self._total.show_text(tr("No prices yet"))
        elif sums.unpriced or sums.foreign:
            self._total.show_text(tr("Total from {total}", total=total))
        else:
            self._total.show_text(tr("Total {total}", total=total))
        apart = apart_text(sums)
        stale = sum(row.stale for row in self.model.rows)
        open_items = self._open_items(sums, stale)
        restyle(self._note, "state", "warns" if stale else "")
        why = uncounted_text(sums)
        said = f"{listed(open_items)}. {why}" if why else listed(open_items)
        self._note.setText("\n".join(filter(None, (apart, said))))
        self._note.setVisible(bool(apart or open_items))

    def _open_items(self, sums: Totals, stale: int) -> list[str]:
        """What the total lacks or should not be trusted for: items without a price, in another
        currency, with an old price."""
        found = []
        if n := len(sums.unpriced):
            found.append(trn("{count} item without a price", "{count} items without a price", n))
        if n := len(sums.foreign):
            found.append(
                trn("{count} item in another currency", "{count} items in another currency", n)
            )
        if stale:
            limit = trn("{count} day", "{count} days", self._session.preferences.now.price_days)
            found.append(
                trn(
                    "{count} price older than {limit}",
                    "{count} prices older than {limit}",
                    stale,
                    limit=limit,
                )
            )
        return found

    def _show_item(self, *_: object) -> None:
        item = self.current()
        self._editor.setVisible(item is not None)
        if item is None:
            return
        part = part_of(self._session.rig, self._session.catalog, item.part)
        self._filling = True
        self._quantity.setValue(item.quantity)
        self._price.setValue(item.price.amount if item.price else 0.0)
        self._cap.setValue(round(item.power_cap_w or 0))
        self._filling = False
        self._price.setSuffix(
            f" {item.price.currency if item.price else self._session.rig.currency}"
        )
        self._role.setCurrentIndex(max(0, self._role.findData(item.role)))
        self._form.setRowVisible(self._cap, isinstance(part, GPU))
        self._form.setRowVisible(self._role, isinstance(part, GPU))
        # With hidden rows below, QFormLayout makes its labels as wide as the first one alone.
        names = [self._form.labelForField(box) for box in (self._price, self._cap)]
        self._counted.setMinimumWidth(max(name.sizeHint().width() for name in names))

    def _choose(self, line: BuildRow) -> None:
        self.kind_chosen.emit(line.kind, line.uid or "")
        if line.uid:
            self._session.point_at(f"{line.uid}.0")

    def _point(self, subject: str) -> None:
        uid = subject.rpartition(".")[0] or subject
        line = self.model.row_of(uid)
        if line is not None and self.view.currentIndex().row() != line:
            self.view.setCurrentIndex(self.model.index(line))

    def _take_drop(self, data: QMimeData) -> None:
        from rigplanner.desktop.parts.clipboard import paste_data

        paste_data(self._session, data, self.link_dropped.emit)

    def open_menu(self) -> None:
        """Offer the kinds of part to add."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for kind in KINDS:
            menu.addAction(
                icons.icon(kind),
                KIND_WORDS[kind],
                lambda kind=kind: self.kind_chosen.emit(kind, ""),
            )
        menu.popup(self.add.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def remove_current(self) -> None:
        """Take the item under the cursor out of the rig, with a way back."""
        item = self.current()
        if item is None:
            return
        name = self.name_of(item)
        if self._session.edit(
            tr("Remove {name}", name=name), Edit("remove_item", {"uid": item.uid})
        ):
            self._session.tell(
                tr("Removed {name}.", name=name), "info", tr("Undo"), self._session.undo
            )

    def name_of(self, item: Item) -> str:
        """Return the name of an item's part, its id where no catalog knows it."""
        part = part_of(self._session.rig, self._session.catalog, item.part)
        return part.name if part else item.part

    def _edited(self) -> Item | None:
        return None if self._filling else self.current()

    def _set_quantity(self, quantity: int) -> None:
        if (item := self._edited()) is not None:
            edit = Edit("set_quantity", {"uid": item.uid, "quantity": quantity})
            self._session.edit(
                tr("Set {part} to {count}", part=self.name_of(item), count=quantity),
                edit,
                merge=f"quantity {item.uid}",
            )

    def _set_price(self, amount: float) -> None:
        if (item := self._edited()) is not None:
            currency = item.price.currency if item.price else self._session.rig.currency
            price = (
                Price(
                    amount=amount,
                    currency=currency,
                    day=self._session.today,
                    source=tr("entered by hand"),
                )
                if amount
                else None
            )
            edit = Edit("set_price", {"uid": item.uid, "price": price})
            self._session.edit(
                tr("Price of {item}", item=self.name_of(item)), edit, merge=f"price {item.uid}"
            )

    def _set_role(self, role: Role | None) -> None:
        if (item := self._edited()) is not None:
            edit = Edit("set_role", {"uid": item.uid, "role": role})
            self._session.edit(tr("What {item} is for", item=self.name_of(item)), edit)

    def _set_cap(self, watts: int) -> None:
        if (item := self._edited()) is not None:
            edit = Edit("set_power_cap", {"uid": item.uid, "watts": float(watts) or None})
            name = (
                tr("Limit {item} to {watts} W", item=self.name_of(item), watts=watts)
                if watts
                else tr("Remove the power limit of {item}", item=self.name_of(item))
            )
            self._session.edit(name, edit, merge=f"cap {item.uid}")
