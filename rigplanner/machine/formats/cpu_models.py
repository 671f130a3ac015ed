"""CPU family and model numbers (CPUID leaf 1, the extended family in the upper half of a byte, as
NCCL writes them) of the server sockets. Source: Linux `arch/x86/include/asm/intel-family.h` and
`arch/x86/kernel/cpu/amd.c`."""

from rigplanner.catalog.schema.parts import CPU

MODELS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "LGA2011": (("2012", "6", "45"), ("2013", "6", "62")),
    "LGA2011-3": (("2014", "6", "63"), ("2016", "6", "79")),
    "LGA3647": (("2017", "6", "85"),),
    "LGA4189": (("2021", "6", "106"),),
    "LGA4677": (("2023", "6", "143"), ("2023-12", "6", "207")),
    "LGA4710": (("2024", "6", "173"),),
    "SP3": (("2017", "143", "1"), ("2019", "143", "49"), ("2021", "175", "1")),
    "SP5": (("2022", "175", "17"), ("2024-10", "191", "2")),
}  # fmt: skip
"""By socket: the year from which its CPUs are of a family and model. Sockets for one CPU alone are
left out."""


def numbers_of(cpu: CPU) -> tuple[str, str] | None:
    """Return family and model of a CPU by its socket and the day it came out, None where they are
    not known."""
    out = [
        row
        for row in MODELS.get(cpu.socket or "", ())
        if cpu.released is not None and row[0] <= cpu.released
    ]
    return out[-1][1:] if out else None


def socket_of(family: str, model: str) -> str | None:
    """Return the server socket of a family and model, None for others."""
    return next(
        (socket for socket, rows in MODELS.items() if (family, model) in [row[1:] for row in rows]),
        None,
    )
