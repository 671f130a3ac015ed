"""Published figures that hold each fitted constant: tests/pinned_constants.json.

python -m tools.pin_constants

Every constant with a float, and every entry of a table or of a file of constants (hosts, physics
of speed), is raised by a tenth, and of the published figures that move by it the one is taken that
the model tells best; one that still holds its constant stays. tests/test_pinned_constants.py
computes these figures anew and holds them to the ratio of then: whoever moves a constant sees which
published figure moved."""

import contextlib
import functools
import itertools
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.prices import index as price_index
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.errors import WorkloadFault
from rigplanner.machine.exchange import judge_exchange, judge_sweeps
from rigplanner.memory.measured.accuracy import compare
from rigplanner.performance.anchors.evidence import placed_row
from rigplanner.performance.host import constants as host
from rigplanner.performance.host.judge import judged_rows
from rigplanner.performance.measured import Measured, shipped_measured

ROOT = Path(__file__).resolve().parents[1]
PINS = ROOT / "tests" / "pinned_constants.json"
MEMORY = ROOT / "tests" / "memory" / "measured_memory.jsonl"
RAISED = 1.1
LEAST_MOVE = 0.004
"""Logarithm by which a figure must move to hold a constant: four times what the test allows."""
NEAR = math.log(1.15)
"""Figures that the model tells this well are taken before those that move more."""
SPARSE = 10
"""Of so many rows one is asked first: most constants move many."""
FILES = (
    ("rigplanner.performance.host.constants", "host_constants", ""),
    ("rigplanner.performance.constants", "speed_model", ".physics"),
    ("rigplanner.workload.stacks", "_file", ".intervals"),
    ("rigplanner.catalog.prices.index", "shipped_index", ".series"),
)
"""Modules that read constants from a file, the function that does, and which of them predict."""
READ_ONCE = ("shipped", "measured_exchange", "measured_sweeps", "memory_stacks", "host_rows")
"""Caches of files, which no constant changes."""


class Pin(msgspec.Struct, frozen=True):
    """A constant, the published figure that holds it, what was published there and the logarithm of
    predicted over published."""

    constant: str
    figure: str
    published: float
    log_ratio: float


Figures = dict[str, tuple[float, float]]
"""Name of a published figure -> what was published, logarithm of predicted over published."""
ENDS = ("memory", "memory at least", "memory at most")
"""What is said of a measured case: the figure, and both ends of its interval."""


def speeds(rows: list[Measured]) -> Figures:
    """Return the speeds of physics alone."""
    zoo, found = shipped_zoo(), {}
    for row in rows:
        try:
            placed = placed_row(row, zoo)
        except WorkloadFault:
            continue
        if placed:
            found[f"speed {row.id}"] = row.value, -placed.residual
    return found


def memories(lines: list[bytes]) -> Figures:
    """Return the GiB of cases, and the ends of their intervals."""
    return {
        f"{end} {case.id}": (case.measured_gib, math.log(gib / case.measured_gib))
        for case in compare(lines, _card_or_none, shipped_zoo())
        for end, gib in zip(ENDS, (case.predicted_gib, case.low_gib, case.high_gib), strict=True)
        if gib
    }


def cases_of(figures: Iterable[str]) -> list[bytes]:
    """Return the lines of the measured cases that figures are of."""
    wanted = set(figures)
    return [
        line
        for line in MEMORY.read_bytes().splitlines()
        if not wanted.isdisjoint(f"{end} {_id_of(line)}" for end in ENDS)
    ]


def prices() -> Figures:
    """Return prices of a part as the index carries earlier ones of it to their month, and the upper
    end of that."""
    found, index = Figures(), price_index.shipped_index()
    end = f"{index.months[-1]}-28"
    for part in shipped_catalog().parts.values():
        told = [price for price in part.prices if price.condition != "launch"]
        for old, new in itertools.product(told, told):
            alike = (old.currency, old.condition) == (new.currency, new.condition)
            if not alike or old.day[:7] >= new.day[:7]:
                continue
            was = price_index.carried(part, old, end, index)
            is_now = price_index.carried(part, new, end, index)
            if was and is_now:
                name = f"{part.id} {old.day} to {new.day} {new.amount:g} {new.currency}"
                found[f"price {name}"] = new.amount, math.log(was.value / is_now.value)
                found[f"price at most {name}"] = new.amount, math.log(was.high / is_now.value)
    return found


def memory_lines() -> list[bytes]:
    """Return every second case: enough for each kind of job."""
    return MEMORY.read_bytes().splitlines()[::2]


def _card_or_none(name: str) -> Any:
    try:
        return find_gpu(name)
    except WorkloadFault:
        return None


def exchanges() -> Figures:
    """Return rates between GPUs, and times of all-reduces by size."""
    catalog = shipped_catalog()
    found = {
        f"exchange {item.row.gpu} x{item.row.count} {item.row.what} {item.row.gbs:g}": (
            item.row.gbs,
            math.log(item.value / item.row.gbs),
        )
        for item in judge_exchange(catalog)
    }
    for time in judge_sweeps(catalog):
        row = time.row
        name = f"sweep {row.gpu} x{row.count} {row.link} {row.nodes} nodes {time.size_bytes} bytes"
        found[name] = (row.us[time.size_bytes], time.log_error)
    return found


def hosted() -> Figures:
    """Return tokens per second of models that lie in RAM, wholly or in part, and of their
    prompts."""
    known = host.host_constants()
    found: Figures = {}
    for number, item in enumerate(judged_rows()):
        told, read = item.row.decode, item.row.prefill
        found[f"host {number}"] = told, math.log(item.decode(known) / told)
        if read:
            found[f"prompt {number}"] = read, math.log(item.prefill(known) / read)
    return found


def constants() -> Iterator[tuple[ModuleType, str, Any]]:
    """Return the modules' constants that hold floats, of the rooms that predict."""
    rooms = tuple(
        f"rigplanner.{room}." for room in ("performance", "memory", "machine.topology", "workload")
    )
    for name, module in sorted(sys.modules.items()):
        if name.startswith(rooms):
            for key, value in vars(module).items():
                if key.isupper() and _raised(value) != value and _is_own(module, key):
                    yield module, key, value


def changes() -> Iterator[tuple[ModuleType, str, Any, str, Any]]:
    """Return each constant with its name and raised value; of a table one entry after the other."""
    for module, key, value in list(constants()):
        name = f"{module.__name__.removeprefix('rigplanner.')}.{key}"
        if isinstance(value, dict):
            for entry, each in value.items():
                if _raised(each) != each:
                    yield module, key, value, f"{name}[{entry}]", {**value, entry: _raised(each)}
        else:
            yield module, key, value, name, _raised(value)
    for module_name, key, which in FILES:
        module, reader = sys.modules[module_name], getattr(sys.modules[module_name], key)
        for path, raised in _entries(reader()):
            if path.startswith(which):
                name = f"{module_name.removeprefix('rigplanner.')}{path}"
                yield module, key, reader, name, lambda raised=raised: raised


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Each float in a value by its path, with the value in which that one is a tenth larger."""
    if isinstance(value, float):
        yield "", value * RAISED
    elif isinstance(value, dict):
        for key, each in value.items():
            for path, raised in _entries(each):
                yield f"[{key}]{path}", {**value, key: raised}
    elif isinstance(value, list):
        for n, each in enumerate(value):
            for path, raised in _entries(each):
                yield f"[{n}]{path}", [*value[:n], raised, *value[n + 1 :]]
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            for path, raised in _entries(getattr(value, name)):
                yield f".{name}{path}", msgspec.structs.replace(value, **{name: raised})


def _is_own(module: ModuleType, key: str) -> bool:
    """Whether the module assigns the name itself, not imports it."""
    code = Path(module.__file__ or "").read_text("utf-8")
    return any(
        key in line.split("=")[0].replace("(", " ").replace(",", " ").replace(":", " ").split()
        for line in code.splitlines()
        if ("=" in line and line[:1].isupper()) or line.startswith("(")
    )


def _raised(value: Any) -> Any:
    """A value with each float in it a tenth larger."""
    if isinstance(value, float):
        return value * RAISED
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(_raised, value))
    if isinstance(value, dict):
        return {key: _raised(each) for key, each in value.items()}
    if isinstance(value, msgspec.Struct):
        changed = {name: _raised(getattr(value, name)) for name in value.__struct_fields__}
        return type(value)(**changed)
    return value


def forget() -> None:
    """Empty every cache that a constant may have gone into."""
    for name, module in list(sys.modules.items()):
        if name.startswith("rigplanner.") and not name.startswith(
            ("rigplanner.networks", "rigplanner.catalog")
        ):
            for key, value in list(vars(module).items()):
                if isinstance(value, functools._lru_cache_wrapper) and not key.lstrip(
                    "_"
                ).startswith(READ_ONCE):
                    value.cache_clear()


def set_everywhere(key: str, old: Any, new: Any) -> None:
    """Give a constant another value in every module that knows it by this name."""
    for name, module in list(sys.modules.items()):
        if name.startswith("rigplanner.") and vars(module).get(key) is old:
            setattr(module, key, new)


def main() -> None:
    """Write the pins, and name the constants that no published figure holds."""
    held = {pin.constant: pin for pin in msgspec.json.decode(PINS.read_bytes(), type=list[Pin])}
    before: Figures = {}
    known: set[str] = set()
    pins: list[Pin] = []
    free: list[str] = []
    for module, key, value, name, new in changes():
        found = None
        for asked, figures in _searches(module.__name__, held.get(name)):
            if asked not in known:
                known.add(asked)
                before |= figures()
            after = _with_another(key, value, new, figures)
            found = _pinned(name, before, after)
            if found is not None:
                break
        if found is None:
            free.append(name)
        else:
            pins.append(found)
            print(f"{name}: {found.figure}, off {100 * found.log_ratio:+.1f} %", flush=True)
    told = b",\n".join(
        b"  " + msgspec.json.encode(msgspec.structs.replace(pin, log_ratio=round(pin.log_ratio, 5)))
        for pin in pins
    )
    PINS.write_bytes(b"[\n" + told + b"\n]\n")
    print("held by none:", *free, sep="\n  ")


def _with_another(key: str, old: Any, new: Any, figures: Callable[[], Figures]) -> Figures:
    """Figures with a constant changed, none where it makes no sense so: worked out in a process of
    their own, so that nothing kept of them reaches the next constant."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        set_everywhere(key, old, new)
        forget()
        told: Figures = {}
        with contextlib.suppress(WorkloadFault, ArithmeticError, ValueError):
            told = figures()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(msgspec.msgpack.encode(told))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = msgspec.msgpack.decode(pipe.read(), type=Figures)
    os.waitpid(child, 0)
    return told


def _pinned(name: str, before: Figures, after: Figures) -> Pin | None:
    """The pin of a constant: of the figures that it moves the one that is told best."""
    moved = {
        at: abs(ratio - before[at][1])
        for at, (_, ratio) in after.items()
        if at in before and abs(ratio - before[at][1]) > LEAST_MOVE
    }
    if not moved:
        return None
    best = min(moved, key=lambda at: (max(NEAR, abs(before[at][1])), -moved[at]))
    return Pin(name, best, *before[best])


def _searches(module: str, held: Pin | None) -> Iterator[tuple[str, Callable[[], Figures]]]:
    """Where to look for the figure that holds a constant of a module, each with a name, the
    quickest first: the one that holds it now, every tenth row, all rows."""
    room = module.removeprefix("rigplanner.").partition(".")[0]
    room = "hosts" if ".performance.host." in module else room
    rows, lines = list(shipped_measured()), memory_lines()
    if held is not None:
        own = [row for row in rows if f"speed {row.id}" == held.figure]
        cases = cases_of([held.figure])
        yield held.figure, _of_room(module, own, cases)
    if not any(room in module for room in (".performance.host.", ".machine.", ".catalog.")):
        yield f"some of {room}", _of_room(module, rows[::SPARSE], lines[::SPARSE])
    yield f"all of {room}", _of_room(module, rows, lines)


def _id_of(line: bytes) -> Any:
    return msgspec.json.decode(line)["id"]


def _of_room(module: str, rows: list[Measured], lines: list[bytes]) -> Callable[[], Figures]:
    """The figures of these rows and cases that a constant of this module may move."""
    if ".performance.host." in module:
        return hosted
    if ".machine." in module:
        return exchanges
    if ".performance." in module:
        return lambda: speeds(rows)
    if ".catalog.prices." in module:
        return prices
    if ".memory." in module or ".workload.stacks" in module:
        return lambda: memories(lines)
    return lambda: {**speeds(rows), **memories(lines)}


if __name__ == "__main__":
    main()
