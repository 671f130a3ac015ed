"""Shapes of the machine's drawing, in device-independent pixels, and the sizes they are made in. No
Qt here."""

from typing import Literal

from msgspec import Struct

Role = Literal["socket", "hub", "place", "device", "fabric", "loose"]


class Box(Struct, frozen=True, kw_only=True):
    """A rectangle with a name and a note. `piece` stands in it; `place` is the slot or port that it
    is; `state` a verdict."""

    x: float
    y: float
    width: float
    height: float
    role: Role
    text: str
    note: str = ""
    piece: str = ""
    place: str = ""
    state: str = ""
    empty: bool = False


class Wire(Struct, frozen=True, kw_only=True):
    """A broken line of right angles with a label that ends at (`label_x`, `label_y`), or begins
    there when it stands `beside`; `lanes` is the width of a PCIe link."""

    points: tuple[tuple[float, float], ...]
    weight: float
    label: str = ""
    label_x: float = 0.0
    label_y: float = 0.0
    state: str = ""
    fabric: bool = False
    tip: str = ""
    lanes: int | None = None
    beside: bool = False


NARROWEST, WIDEST = 0.72, 1.75
TALLEST = 1.45
"""How far rows are drawn apart when there is room."""


SAME = 1e-6
"""Scales that differ by less draw no pixel elsewhere."""


class Scale(Struct, frozen=True):
    """Sizes that follow the font: `row` is the height of a table row; `squeeze` narrows or widens
    all but the tracks, `apart` draws the rows apart."""

    row: float
    squeeze: float = 1.0
    apart: float = 1.0

    @property
    def step(self) -> float:
        return self.row * 1.12 * self.apart

    @property
    def box(self) -> float:
        return self.row * 0.92

    @property
    def socket(self) -> float:
        return self.row * 6.2 * self.squeeze

    @property
    def hub(self) -> float:
        return self.row * 4.4 * self.squeeze

    @property
    def link(self) -> float:
        return self.row * 5.0 * self.squeeze

    @property
    def place(self) -> float:
        return self.row * 4.2 * self.squeeze

    @property
    def device(self) -> float:
        return self.row * 9.5 * self.squeeze

    @property
    def track(self) -> float:
        return self.row * 1.25

    def is_near(self, other: "Scale") -> bool:
        """Say whether a drawing in another scale looks the same."""
        return abs(self.squeeze - other.squeeze) < SAME and abs(self.apart - other.apart) < SAME


class Drawing(Struct, frozen=True, kw_only=True):
    """All that is drawn, how large it is, and in which scale."""

    width: float
    height: float
    boxes: tuple[Box, ...] = ()
    wires: tuple[Wire, ...] = ()
    scale: Scale | None = None
