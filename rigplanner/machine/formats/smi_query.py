"""`nvidia-smi -q` text: models, links, power limits and memory of the GPUs of a machine."""

import re

from msgspec import Struct

LARGEST_TEXT = 4 * 2**20


class QueryFault(ValueError):
    """Text that is no such output."""


class QueriedGpu(Struct, frozen=True):
    """One GPU. Links are (generation, width) as the card and slot can at most and as they run now;
    watts as printed."""

    address: str
    name: str
    link_max: tuple[int | None, int | None]
    link_now: tuple[int | None, int | None]
    power_limit_w: float | None
    power_max_w: float | None

    @property
    def link(self) -> tuple[int | None, int | None]:
        """Generation and width under load: idle links fall back to Gen1 but keep their width, which
        the slot sets."""
        return self.link_max[0], self.link_now[1] or self.link_max[1]


def parse_query(text: str) -> list[QueriedGpu]:
    """Return the GPUs in the order of the text; raise QueryFault when it names none."""
    return [_gpu(address, values) for address, values in query_blocks(text)]


def query_blocks(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return address and values of each GPU of the text; raise QueryFault when it names none.

    Values go by their last one, two or three headings ("FB Memory Usage/Total"); the first wins."""
    if len(text) > LARGEST_TEXT:
        raise QueryFault(
            f"The text is longer than {LARGEST_TEXT // 2**20} MiB: no output of nvidia-smi -q."
        )
    blocks = re.split(
        r"^GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)\s*$", text, flags=re.MULTILINE
    )
    if len(blocks) < 3:
        raise QueryFault(
            "No line such as GPU 00000000:01:00.0 was found: expected the output of nvidia-smi -q."
        )
    return [
        (address, _values(block)) for address, block in zip(blocks[1::2], blocks[2::2], strict=True)
    ]


def _gpu(address: str, values: dict[str, str]) -> QueriedGpu:
    generation, width = "GPU Link Info/PCIe Generation", "GPU Link Info/Link Width"
    return QueriedGpu(
        address=address,
        name=values.get("Product Name", ""),
        link_max=(_number(values, f"{generation}/Max"), _number(values, f"{width}/Max")),
        link_now=(_number(values, f"{generation}/Current"), _number(values, f"{width}/Current")),
        power_limit_w=_first(values, ("Current Power Limit", "Power Limit")),
        power_max_w=_first(values, ("Max Power Limit",)),
    )


def _values(block: str) -> dict[str, str]:
    """Return the values by their last three headings, "FB Memory Usage/Total", read from
    indentation; the first one wins."""
    stack: list[tuple[int, str]] = []
    values: dict[str, str] = {}
    for line in block.splitlines():
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        while stack and stack[-1][0] >= indent:
            stack.pop()
        key, colon, value = line.partition(":")
        stack.append((indent, key.strip()))
        if colon:
            words = [word for _, word in stack]
            for depth in (1, 2, 3):
                values.setdefault("/".join(words[-depth:]), value.strip())
    return values


def _number(values: dict[str, str], key: str) -> int | None:
    match = re.match(r"(\d+)", values.get(key, ""))
    return int(match[1]) if match else None


def _first(values: dict[str, str], keys: tuple[str, ...]) -> float | None:
    for key in keys:
        match = re.match(r"(\d+(?:\.\d+)?)", values.get(key, ""))
        if match:
            return float(match[1])
    return None
