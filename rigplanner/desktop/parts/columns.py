"""What is shown of each kind of part: one declaration for table, details and sorting."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from rigplanner.catalog.schema.parts import AnyPart, Part
from rigplanner.report.format import quantity
from rigplanner.report.language import digits, tr
from rigplanner.report.words.fields import VALUE_WORDS

Value = float | str | None


class Column(Struct, frozen=True, kw_only=True):
    """One figure of a kind: `field` is the path in the struct (and the name under which sources
    settle it)."""

    title: str
    field: str
    unit: str = ""
    digits: int | None = None
    in_table: bool = True
    value: Callable[[Any], Value] | None = None

    def of(self, part: AnyPart) -> Value:
        """Return the value for a part, None when it is not known."""
        if self.value is not None:
            return self.value(part)
        found: Any = part
        for name in self.field.split("."):
            found = getattr(found, name, None)
        return plain(found)


def plain(found: Any) -> Value:
    """Return a field's value as one number or text."""
    if isinstance(found, bool):
        return tr("yes") if found else tr("no")
    if isinstance(found, (tuple, list)):
        return ", ".join(str(each) for each in found) or None
    return found if isinstance(found, (int, float, str)) or found is None else str(found)


def _plug_name(code: str) -> str:
    return tr(VALUE_WORDS.get(code, code))


def _plugs(part: Any) -> Value:
    plugs = part.connectors if hasattr(part, "connectors") else part.supply.plugs
    return (
        None
        if plugs is None
        else ", ".join(f"{plug.count} × {_plug_name(plug.type)}" for plug in plugs) or tr("none")
    )


def _watts(part: Any) -> Value:
    ratings = part.supply.ratings if part.supply else ()
    return max((rating.watts for rating in ratings), default=None)


def _capacity(part: Any) -> Value:
    return float(part.modules * part.module_gib)


def _kit(part: Any) -> Value:
    return f"{part.modules} × {digits(f'{part.module_gib:g}')}"


def _widest(part: Any) -> Value:
    cards = [slot for slot in part.layout.slots if slot.mechanical == 16 or slot.kind != "pcie"]
    return len(cards)


def _m2(part: Any) -> Value:
    return sum(1 for port in part.layout.drives if port.kind == "m2")


def _nvlink(part: Any) -> Value:
    port = part.nvlink
    if port is None:
        return tr("none") if part.has_nvlink is False else None
    return f"{port.links} × {quantity(port.link_gbs, 'GB/s')}"


def _edge(part: Any) -> Value:
    if part.edge_width is None:
        return None
    return f"x{part.edge_width}" + (f" Gen{part.edge_gen}" if part.edge_gen else "")


C = Column
COLUMNS: dict[str, tuple[Column, ...]] = {
    "gpu": (
        C(title="VRAM", field="memory_gib", unit="GiB", digits=0),
        C(title="Bandwidth", field="bandwidth_gbs", unit="GB/s", digits=0),
        C(title="FP16", field="dense_tflops.fp16", unit="TFLOPS"),
        C(title="Power", field="tdp_w", unit="W", digits=0),
        C(title="Slots", field="slots", digits=1),
        C(title="Form", field="form_factor"),
        C(title="Architecture", field="architecture", in_table=False),
        C(title="Compute capability", field="compute_capability", in_table=False),
        C(title="BF16", field="dense_tflops.bf16", unit="TFLOPS", in_table=False),
        C(title="FP32", field="dense_tflops.fp32", unit="TFLOPS", in_table=False),
        C(title="FP8", field="dense_tflops.fp8", unit="TFLOPS", in_table=False),
        C(title="Edge", field="edge_width", value=_edge, in_table=False),
        C(title="NVLink", field="nvlink", value=_nvlink, in_table=False),
        C(title="Connectors", field="connectors", value=_plugs, in_table=False),
        C(title="Length", field="length_mm", unit="mm", digits=0, in_table=False),
        C(title="Height", field="height_mm", unit="mm", digits=0, in_table=False),
        C(title="Cooling", field="cooling", in_table=False),
        C(title="Peer to peer", field="p2p", in_table=False),
    ),
    "cpu": (
        C(title="Socket", field="socket"),
        C(title="Cores", field="cores", digits=0),
        C(title="Boost", field="boost_ghz", unit="GHz"),
        C(title="Lanes", field="lanes", digits=0),
        C(title="PCIe", field="pcie_gen", unit="Gen", digits=0),
        C(title="Power", field="tdp_w", unit="W", digits=0),
        C(title="Memory", field="memory.types", in_table=False),
        C(title="Channels", field="memory.channels", digits=0, in_table=False),
        C(title="Memory at most", field="memory.max_gib", unit="GiB", digits=0, in_table=False),
        C(title="Instruction sets", field="isa", in_table=False),
        C(title="Graphics", field="graphics", in_table=False),
        C(title="Threads", field="threads", digits=0, in_table=False),
    ),
    "motherboard": (
        C(title="Socket", field="layout.sockets"),
        C(title="Chipset", field="layout.chipset"),
        C(title="Form", field="form_factor"),
        C(title="x16 slots", field="layout.slots", digits=0, value=_widest),
        C(title="M.2", field="layout.drives", digits=0, value=_m2),
        C(title="Memory slots", field="layout.memory_slots", digits=0),
        C(title="Memory", field="layout.memory_type", in_table=False),
        C(title="Modules", field="layout.memory_modules", in_table=False),
        C(
            title="Memory at most",
            field="layout.memory_max_gib",
            unit="GiB",
            digits=0,
            in_table=False,
        ),
        C(title="Chipset link", field="layout.chipset_link", in_table=False),
        C(title="Above 4G decoding", field="layout.above_4g", in_table=False),
        C(title="Remote management", field="layout.remote_management", in_table=False),
    ),
    "system": (
        C(title="Role", field="role"),
        C(title="Socket", field="layout.sockets"),
        C(title="Power at most", field="max_power_w", unit="W", digits=0),
        C(title="Supply", field="supply", unit="W", digits=0, value=_watts),
        C(title="Memory slots", field="layout.memory_slots", digits=0, in_table=False),
        C(title="Memory", field="layout.memory_type", in_table=False),
        C(title="GPU power at most", field="gpu_max_w", unit="W", digits=0, in_table=False),
    ),
    "memory": (
        C(title="Capacity", field="module_gib", unit="GiB", digits=0, value=_capacity),
        C(title="Kit", field="modules", unit="GiB", value=_kit),
        C(title="Type", field="type"),
        C(title="Module", field="module"),
        C(title="Speed", field="speed_mts", unit="MT/s", digits=0),
        C(title="CAS", field="cas", in_table=False),
        C(title="ECC", field="ecc", in_table=False),
        C(title="Height", field="height_mm", unit="mm", digits=0, in_table=False),
    ),
    "storage": (
        C(title="Capacity", field="capacity_gb", unit="GB", digits=0),
        C(title="Form", field="form_factor"),
        C(title="Interface", field="interface"),
        C(title="Read", field="read_gbs", unit="GB/s"),
        C(title="Write", field="write_gbs", unit="GB/s"),
        C(title="Random read", field="random_read_kiops", unit="kIOPS", digits=0, in_table=False),
        C(title="Endurance", field="endurance_tbw", unit="TBW", digits=0, in_table=False),
        C(title="PCIe", field="gen", unit="Gen", digits=0, in_table=False),
        C(title="Power", field="power_w", unit="W", in_table=False),
    ),
    "psu": (
        C(title="Output", field="supply.ratings", unit="W", digits=0, value=_watts),
        C(title="Form", field="form_factor"),
        C(title="Standard", field="supply.standard"),
        C(title="Efficiency", field="supply.efficiency_label"),
        C(title="Connectors", field="supply.plugs", value=_plugs, in_table=False),
        C(title="Length", field="length_mm", unit="mm", digits=0, in_table=False),
        C(title="Modular", field="modular", in_table=False),
    ),
    "chassis": (
        C(title="Boards", field="enclosure.board_form_factors"),
        C(title="Slots", field="enclosure.slot_columns", digits=0),
        C(title="GPU length", field="enclosure.gpu_length_mm", unit="mm", digits=0),
        C(title="Cooler height", field="enclosure.cooler_height_mm", unit="mm", digits=0),
        C(title="Radiators", field="enclosure.radiators_mm", unit="mm", in_table=False),
        C(title='Bays 3.5"', field="enclosure.bays_35", digits=0, in_table=False),
        C(title='Bays 2.5"', field="enclosure.bays_25", digits=0, in_table=False),
        C(title="Rack units", field="enclosure.rack_units", in_table=False),
    ),
    "cooler": (
        C(title="Type", field="type"),
        C(title="Height", field="height_mm", unit="mm", digits=0),
        C(title="Radiator", field="radiator_mm", unit="mm", digits=0),
        C(title="Rated", field="rated_w", unit="W", digits=0),
        C(title="Sockets", field="sockets", in_table=False),
    ),
    "bridge": (
        C(title="Connector", field="connector"),
        C(title="NVLink", field="generation"),
        C(title="Spacing", field="spacing_slots", unit="slots", digits=0),
        C(title="GPUs", field="gpus", digits=0),
        C(title="Links", field="links", digits=0, in_table=False),
        C(title="Per pair", field="per_pair", digits=0, in_table=False),
    ),
    "riser": (
        C(title="PCIe", field="gen", unit="Gen", digits=0),
        C(title="Width", field="width", digits=0),
        C(title="Length", field="length_mm", unit="mm", digits=0),
        C(title="Output", field="output", in_table=False),
    ),
    "nic": (
        C(title="Ports", field="ports", digits=0),
        C(title="Rate", field="port_gbps", unit="Gb/s", digits=0),
        C(title="Protocol", field="protocol"),
        C(title="Edge", field="edge_width", value=_edge),
        C(title="RDMA", field="rdma", in_table=False),
        C(title="Power", field="power_w", unit="W", in_table=False),
    ),
    "accessory": (
        C(title="Type", field="type"),
        C(title="Power", field="power_w", unit="W", digits=0),
    ),
}

COMMON = (
    C(title="Vendor", field="vendor", in_table=False),
    C(title="Status", field="status", in_table=False),
    C(title="Released", field="released", in_table=False),
    C(title="Notes", field="notes", in_table=False),
)


class Facet(Struct, frozen=True):
    """A field by whose values the table can be narrowed."""

    title: str
    value: Callable[[Any], Value]


VENDOR = Facet("Vendor", lambda part: part.vendor)
FACETS: dict[str, tuple[Facet, ...]] = {
    "gpu": (
        VENDOR,
        Facet("Form", lambda part: part.form_factor),
        Facet("Architecture", lambda part: part.architecture),
    ),
    "cpu": (VENDOR, Facet("Socket", lambda part: part.socket)),
    "motherboard": (
        VENDOR,
        Facet("Socket", lambda part: plain(part.layout.sockets[:1])),
        Facet("Form", lambda part: part.form_factor),
    ),
    "system": (VENDOR, Facet("Role", lambda part: part.role)),
    "memory": (
        VENDOR,
        Facet("Type", lambda part: part.type),
        Facet("Module", lambda part: part.module),
    ),
    "storage": (
        VENDOR,
        Facet("Interface", lambda part: part.interface),
        Facet("Form", lambda part: part.form_factor),
    ),
    "psu": (
        VENDOR,
        Facet("Form", lambda part: part.form_factor),
        Facet("Standard", lambda part: part.supply.standard),
    ),
    "chassis": (VENDOR,),
    "cooler": (VENDOR, Facet("Type", lambda part: part.type)),
    "bridge": (VENDOR, Facet("Connector", lambda part: part.connector)),
    "riser": (VENDOR,),
    "nic": (VENDOR, Facet("Protocol", lambda part: part.protocol)),
    "accessory": (VENDOR, Facet("Type", lambda part: part.type)),
}


class Span(Struct, frozen=True, kw_only=True):
    """A figure by whose least and greatest value the table can be narrowed; the price, which hangs
    on the rig's currency, is that of the table."""

    title: str
    unit: str = ""
    value: Callable[[Any], Value] | None = None


def _field(path: str) -> Callable[[Any], Value]:
    return Column(title="", field=path).of


PRICE_SPAN = Span(title="Price")
SPANS: dict[str, tuple[Span, ...]] = {
    "gpu": (
        PRICE_SPAN,
        Span(title="VRAM", unit="GiB", value=_field("memory_gib")),
        Span(title="Power", unit="W", value=_field("tdp_w")),
        Span(title="Length", unit="mm", value=_field("length_mm")),
    ),
    "cpu": (
        PRICE_SPAN,
        Span(title="Cores", value=_field("cores")),
        Span(title="Power", unit="W", value=_field("tdp_w")),
    ),
    "memory": (PRICE_SPAN, Span(title="Capacity", unit="GiB", value=_capacity)),
    "storage": (PRICE_SPAN, Span(title="Capacity", unit="GB", value=_field("capacity_gb"))),
    "psu": (
        PRICE_SPAN,
        Span(title="Output", unit="W", value=_watts),
        Span(title="Length", unit="mm", value=_field("length_mm")),
    ),
    "chassis": (
        PRICE_SPAN,
        Span(title="GPU length", unit="mm", value=_field("enclosure.gpu_length_mm")),
    ),
    "cooler": (PRICE_SPAN, Span(title="Height", unit="mm", value=_field("height_mm"))),
    "riser": (PRICE_SPAN, Span(title="Length", unit="mm", value=_field("length_mm"))),
}
"""Kind to its figures with a range; all others are narrowed by price alone."""


def spans_of(kind: str) -> tuple[Span, ...]:
    """Return the figures of a kind by whose range its table can be narrowed."""
    return SPANS.get(kind, (PRICE_SPAN,))


def table_columns(kind: str) -> tuple[Column, ...]:
    """Return the columns of a kind's table."""
    return tuple(column for column in COLUMNS[kind] if column.in_table)


def sources_of(part: Part, field: str) -> list[str]:
    """Return the source keys that settled a field (by its full path or its first name), else those
    that settled all others."""
    names = {field, field.split(".")[0], field.split(".")[-1]}
    exact = [key for key, fields in part.sources.items() if names & set(fields)]
    return exact or [key for key, fields in part.sources.items() if "*" in fields]
