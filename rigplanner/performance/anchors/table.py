"""The measured rows as one table of columns, and its file in the user's cache.

Placing some five thousand rows takes a second and the result is the same until a row, a constant or
the program changes; so it is kept as numpy arrays in one file, whose name tells all that it was
made from."""

import contextlib
import hashlib
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from rigplanner import __version__
from rigplanner.data import data_path, shipped_files
from rigplanner.performance.anchors.kriging import NOBODY, Codes, Columns, Floats, columns_of
from rigplanner.performance.anchors.points import WORDS, Placed, Point
from rigplanner.whole_file import read_within, write_whole

FOLDERS = ("benchmarks", "models", "gpu", "architectures")
"""Folders of the catalog that say where a row lies and what physics tells of it."""
LARGEST_FILE_BYTES = 64 * 2**20
MOST_TABLES = 4
"""Tables that are kept, the newest first: several installations may share a cache."""


class Table(Struct, frozen=True):
    """n placed rows, those of the same words, silicon and year (a *spot*) beside each other, spots
    of the same words too, in the order in which they first appear. `number` (n) is the place of a
    row in the list of measured rows, `residual` (n) the log of measured over modelled speed,
    `data` (n) the code of real or synthetic samples, `told` those of rows told by their halves,
    which lie nowhere; codes are places in `vocabulary`."""

    points: Columns
    residual: Floats
    data: Codes
    number: Codes
    told: Codes
    vocabulary: tuple[str, ...]

    def point(self, place: int) -> Point:
        """Return a row's point."""
        points, word = self.points, self.vocabulary
        named = {
            name: word[code] if code != NOBODY else ""
            for name, code in zip(WORDS, points.words[:, place].tolist(), strict=True)
        }
        return Point(
            **named,
            lane=word[points.lane[place]],
            data=word[self.data[place]],
            silicon=tuple(points.silicon[points.chip[place]].tolist()),
            count=float(points.count[place]),
            tokens=float(points.tokens[place]),
            written=float(points.written[place]),
            year=float(points.year[place]),
            batch=float(points.batch[place]),
        )


def table_of(placed: Sequence[Placed], numbers: Iterable[int], told: Iterable[int]) -> Table:
    """Return placed rows, whose places in the list of measured rows are `numbers`, as a table."""
    settings: dict[tuple[str, ...], dict[tuple[object, ...], list[int]]] = {}
    for n, item in enumerate(placed):
        words = tuple(getattr(item.point, word) for word in WORDS)
        spots = settings.setdefault(words, {})
        spots.setdefault((item.point.silicon, item.point.year), []).append(n)
    order = [n for spots in settings.values() for rows in spots.values() for n in rows]
    codes: dict[str, int] = {}
    points = columns_of([placed[n].point for n in order], codes)
    data = [codes.setdefault(placed[n].point.data, len(codes)) for n in order]
    return Table(
        points,
        np.array([placed[n].residual for n in order], np.float64),
        np.array(data, np.int32),
        np.array(list(numbers), np.int32)[order],
        np.array(list(told), np.int32),
        tuple(codes),
    )


def cache_file() -> Path:
    """Return where the table of the shipped rows is kept: the name tells the content of the rows
    and constants, and the state of the program's files."""
    import platformdirs

    digest, package = hashlib.blake2b(digest_size=16), Path(__file__).parents[2]
    digest.update(__version__.encode())  # a packaged program has no files of its own to tell
    for folder in FOLDERS:
        for path in shipped_files(data_path("catalog") / folder):
            digest.update(f"{folder}/{path.name}\0".encode())
            digest.update(hashlib.blake2b(path.read_bytes()).digest())
    for path in sorted(package.rglob("*.py")):
        status = path.stat()
        state = f"{path.relative_to(package)} {status.st_size} {status.st_mtime_ns}\0"
        digest.update(state.encode())
    kept = platformdirs.user_cache_path("rigplanner", appauthor=False)
    return kept / f"measured-{digest.hexdigest()}.npz"


def read_table(path: Path) -> Table | None:
    """Return the table that a file keeps, or None where it keeps none or a broken one."""
    try:
        with np.load(io.BytesIO(read_within(path, LARGEST_FILE_BYTES)), allow_pickle=False) as read:
            columns = {name: read[name] for name in Columns.__struct_fields__}
            rest = [read[name] for name in ("residual", "data", "number", "told", "vocabulary")]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    residual, data, number, told, vocabulary = rest
    rows = len(residual)
    same = all(columns[name].shape[-1] == rows for name in columns if name != "silicon")
    if not same or len(data) != rows or len(number) != rows:
        return None
    return Table(Columns(**columns), residual, data, number, told, tuple(vocabulary.tolist()))


def keep_table(path: Path, table: Table) -> None:
    """Write a table whole or not at all, and delete all but the newest of other rows, constants
    and programs; where nothing can be written, nothing is kept."""
    file = io.BytesIO()
    np.savez(
        file,
        **asdict(table.points),
        residual=table.residual,
        data=table.data,
        number=table.number,
        told=table.told,
        vocabulary=np.array(table.vocabulary),
    )
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, file.getvalue())
        known = sorted(path.parent.glob("measured-*.npz"), key=lambda file: -file.stat().st_mtime)
        for other in known[MOST_TABLES:]:
            other.unlink(missing_ok=True)
