"""Hostile names of parts, rigs, people and files through every way out of the program: what leaves
carries no control or override characters, no markup, no formula and no broken structure."""

import contextlib
import csv
import io
import json
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from tools.campaign.figures import Failure, Figures, keep

MARK = "Zq7"
"""Stands in every hostile name, so that it is found again."""
PIECES = (
    "\x00", "\x07", "\x1b[31m", "\x1b]0;owned\x07", "\x9b2J", "\x85", "\u202e", "\u2066",
    "\u200b", "\ufeff", "\u2028", "\r", "\n", "\t",
    '<img src="x.png">', "<script>x</script>", "<b>", "</td></tr>", "&lt;", "]]>", "<!--",
    "--></svg>", "=cmd|' /C calc'!A0", "+1+1", "@SUM(1)", "-2+3", '"', "'", "\\", "\\n", "|", "`",
    "[url=http://x]", "](http://127.0.0.1:9/)", "{0}", "%s", "${HOME}", "$(id)", ";", "//",
    "../../etc/passwd", "\U000e0041", "\u7e41\u9ad4", "\u017dlu\u0165ou\u010dk\u00fd",
    "\U0001f680", "a" * 300,
)  # fmt: skip
FORMULA = ("=", "+", "-", "@", "\t", "\r")
ACTIVE = (b"/JavaScript", b"/Launch", b"/OpenAction", b"/EmbeddedFile")
"""What a PDF that only shows something does not hold."""


def hostile_names(count: int, seed: int, kept: Path | None) -> Figures:
    """Send `count` rigs of hostile names through all ways out."""
    found, dice = Figures("hostile names"), random.Random(seed)
    for number in range(count):
        with tempfile.TemporaryDirectory() as place:
            rig = _rig(dice, Path(place))
            captures = Path(place) / "captures"
            captures.mkdir()
            shutil.copy(Path(__file__).parent / "good" / "topo.txt", captures)
            content = rig.read_bytes()
            for name, came in _through_all(rig, Path(place)):
                found.deeds += 1
                if came:
                    held = keep(kept, f"name-{seed}-{number}.rig", content)
                    found.failures.append(Failure(f"rig {number}: {name}", came, held))
    return found


def _name(dice: random.Random) -> str:
    return "".join([*dice.choices(PIECES, k=dice.randrange(3)), MARK, dice.choice(PIECES)])


def _rig(dice: random.Random, place: Path) -> Path:
    """Write a rig in which everything that can be named is named with hostility."""
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.data import data_path
    from rigplanner.rig.files import encode_rig, read_rig, with_snapshot

    samples = sorted((data_path("resources") / "samples").glob("*.rig"))
    whole = with_snapshot(read_rig(dice.choice(samples)), shipped_catalog())
    tree = json.loads(encode_rig(whole))
    for part in tree["snapshot"].values():
        part["name"] = _name(dice)
        part["vendor"] = _name(dice)
        part["aliases"] = [_name(dice)]
    tree["name"], tree["notes"] = _name(dice), _name(dice)
    quote = tree.setdefault("quote", {})
    for person in ("seller", "customer"):
        quote[person] = {field: _name(dice) for field in ("name", "address", "email", "phone")}
    for item in tree["items"]:
        item["note"] = _name(dice)
    path = place / "a.rig"
    path.write_bytes(json.dumps(tree).encode())
    return path


def _through_all(rig: Path, place: Path) -> Iterator[tuple[str, str]]:
    for name, (words, judge) in WAYS_OUT.items():
        out = place / "out"
        out.unlink(missing_ok=True)
        with_names = {"RIG": str(rig), "OUT": str(out), "CAPTURES": str(place / "captures")}
        code, said, told = _run([with_names.get(word, word) for word in words])
        content = out.read_bytes() if out.exists() else said.encode("utf-8", "surrogatepass")
        if code not in (0, 1):
            yield name, f"exit code {code}: {told[:300]}"
            continue
        came = judge(content) or _steering(told, "stderr")
        yield name, came


def _run(words: list[str]) -> tuple[object, str, str]:
    from rigplanner.cli.main import main

    answer, said = io.StringIO(), io.StringIO()
    code: object
    with contextlib.redirect_stdout(answer), contextlib.redirect_stderr(said):
        try:
            code = main(words)
        except SystemExit as ended:
            code = ended.code
        except BaseException as fault:
            code = f"raised {type(fault).__name__}: {fault}"
    return code, answer.getvalue(), said.getvalue()


def _steering(text: str, where: str = "text") -> str:
    from rigplanner.plain_text import JOINERS, STEERING

    found = {c for c in text if ord(c) in STEERING and ord(c) not in JOINERS}
    lone = {c for c in text if 0xD800 <= ord(c) < 0xE000}
    strange = sorted(f"U+{ord(c):04X}" for c in found | lone)
    return f"{', '.join(strange)} in {where}" if strange else ""


def _text(content: bytes) -> str:
    try:
        return _steering(content.decode())
    except UnicodeDecodeError as fault:
        return str(fault)


def _csv(content: bytes) -> str:
    text = content.decode("utf-8-sig")
    try:
        cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    except csv.Error as fault:
        return str(fault)
    live = [cell for cell in cells if cell.startswith(FORMULA) and MARK in cell]
    return _steering(text) or (f"a live cell {live[0]!r}" if live else "")


def _json(content: bytes) -> str:
    try:
        json.loads(content)
    except ValueError as fault:
        return str(fault)
    return _text(content)


def _xml(content: bytes) -> str:
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as fault:
        return f"is no XML: {fault}"
    strange = {e.tag.rpartition("}")[2] for e in root.iter()} & {"img", "script", "b", "image", "a"}
    return f"elements {strange}" if strange else _text(content)


def _html(content: bytes) -> str:
    text = content.decode()
    found = re.search(r"<(img|script|b)\b[^>]*>", text.replace("<body", ""))
    return f"markup {found.group()!r}" if found else _steering(text)


def _xlsx(content: bytes) -> str:
    from openpyxl import load_workbook

    for sheet in load_workbook(io.BytesIO(content)).worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                if isinstance(cell.value, str):
                    if cell.data_type == "f":
                        return f"a formula {cell.value!r}"
                    if came := _steering(cell.value, cell.coordinate):
                        return came
    return ""


def _pdf(content: bytes) -> str:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(content))
    text = "".join(page.extract_text() for page in reader.pages)
    told = "".join(str(value) for value in (reader.metadata or {}).values())
    active = [word for word in ACTIVE if word in content]
    return _steering(text + told) or (f"{active}" if active else "")


def _dot(content: bytes) -> str:
    """Each line ends outside of a quoted string, and only our attributes stand outside of them."""
    text = content.decode()
    for line in text.splitlines():
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
        if '"' in bare or MARK in bare:
            return f"a name outside of its quotes: {line[:200]!r}"
    return _steering(text)


Judge = Callable[[bytes], str]
ACCEPTED: dict[str, Judge] = {"text": _text, "json": _json, "pdf": _pdf, "html": _html}
WAYS_OUT: dict[str, tuple[list[str], Judge]] = {
    f"{' '.join(words)} {form}".strip(): (
        [*words, *(("--format", form) if form else ()), *out],
        judge,
    )
    for words, out, forms in (
        (
            ("export", "RIG"),
            ("-o", "OUT"),
            {"markdown": _text, "bbcode": _text, "plain": _text, "csv": _csv, "json": _json,
             "xlsx": _xlsx},
        ),
        (
            ("compare", "RIG", "RIG"),
            ("-o", "OUT"),
            {"table": _text, "csv": _csv, "markdown": _text, "json": _json, "pdf": _pdf,
             "xlsx": _xlsx},
        ),
        (
            ("topology", "RIG"),
            (),
            {"matrix": _text, "json": _json, "nccl": _xml, "svg": _xml, "dot": _dot,
             "graphml": _xml, "node-link": _json},
        ),
        (("check", "RIG"), (), {"text": _text, "json": _json}),
        (("accept", "RIG", "--from", "CAPTURES"), ("-o", "OUT"), ACCEPTED),
        (("accept", "RIG", "--plan"), ("-o", "OUT"), ACCEPTED),
        (("accept", "RIG", "--manifest", "gcm"), ("-o", "OUT"), {"": _text}),
        (("accept", "RIG", "--manifest", "dcgm"), ("-o", "OUT"), {"": _text}),
        (("accept", "RIG", "--manifest", "expectation"), ("-o", "OUT"), {"": _text}),
        (("quote", "RIG"), ("-o", "OUT"), {"": _pdf}),
        (("performance", "resnet-50", "--rig", "RIG"), (), {"text": _text}),
    )
    for form, judge in forms.items()
}  # fmt: skip
"""Commands that write what a rig holds, and what is wrong with an answer ("" for nothing). RIG, OUT
and CAPTURES stand for the files. The clipboard takes the same writers; tool tips and labels are
judged in `tests/desktop/test_hostile_names.py`."""
