"""`nvidia-smi nvlink --status` text: which links of each GPU are up, and at what rate."""

import re

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU
from rigplanner.machine.formats.pasted import plain_lines
from rigplanner.machine.formats.smi_matrix import LARGEST_TEXT, MatrixFault

HEAD = re.compile(r"GPU (\d+): (.+?)(?: \(UUID: .*\))?$")
LINK = re.compile(r"Link (\d+): (?:(\d+(?:\.\d+)?) GB/s|<?inactive>?)", re.IGNORECASE)


class LinkedGpu(Struct, frozen=True):
    """One GPU: its index and name, and the rate in GB/s per direction of each link as printed; None
    for a link that is down. Newer parts print the raw rate (25.781, 26.562, 53.125), older ones the
    usable one."""

    index: int
    name: str
    links: tuple[float | None, ...]

    @property
    def up(self) -> int:
        """How many links are up."""
        return sum(rate is not None for rate in self.links)


def parse_nvlink_status(text: str) -> list[LinkedGpu]:
    """Return the GPUs in the order of the text; raise MatrixFault when it names none."""
    if len(text) > LARGEST_TEXT:
        raise MatrixFault(
            f"The text is longer than {LARGEST_TEXT // 2**20} MiB: no output of nvidia-smi nvlink"
            " --status."
        )
    found: list[tuple[int, str, list[float | None]]] = []
    for _, line in plain_lines(text):
        head, link = HEAD.search(line.strip()), LINK.search(line)
        if head is not None:
            found.append((int(head[1]), head[2].strip(), []))
        elif link is not None and found:
            found[-1][2].append(float(link[2]) if link[2] else None)
    if not found:
        raise MatrixFault(
            "No line such as GPU 0: NVIDIA RTX A6000 was found: expected the output of nvidia-smi"
            " nvlink --status."
        )
    return [LinkedGpu(index, name, tuple(links)) for index, name, links in found]


def links_down(status: list[LinkedGpu], card: GPU) -> tuple[tuple[int, int, int], ...]:
    """Return index, links up and links of the card for each GPU that has some links up and some
    down, as a bridge that is not fully seated leaves it; none for a card without NVLink."""
    most = card.nvlink.links if card.nvlink is not None else 0
    return tuple((gpu.index, gpu.up, most) for gpu in status if 0 < gpu.up < most)
