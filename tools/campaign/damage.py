"""Ways to damage a file: bytes, lines, and values of JSON."""

import json
import random
from collections.abc import Callable
from typing import Any

ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    "",
    [],
    {},
    -1,
    0,
    0.5,
    1e308,
    5e-324,
    -1e308,
    2**31,
    2**63,
    2**64,
    10**400,
    "x" * 2000,
    "\x1b[31mred",
    "\u202eevil",
    "a\x00b",
    "<b>x</b>",
    '=HYPERLINK("x")',
    "../../etc/passwd",
    "/dev/zero",
    [[1]],
    {"x": [1]},
    [None],
    ["a", {"b": 1}],
    "1e999",
    "NaN",
    "\ud800",
)
ODD_DIGITS = (b"-1", b"0", b"1e308", b"99999999999999999999", b"0.0001", b"", b"x", b"007")
ODD_BYTES = (
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xdf",
    b"\r",
    b"\x1b[2J",
    b'"',
    b"{",
    b"[" * 9000,
    b"9" * 400,
    b"1e999",
    b"<!ENTITY a 'a'>",
    b"\xe2\x80\xae",
    b"," * 3000,
    b"x" * 140_000,
    b"\n" * 500,
    b"NaN",
    b"-",
)


def damaged(content: bytes, dice: random.Random) -> bytes:
    """Return a damaged copy of a file."""
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        content = dice.choice(WAYS)(content, dice)
    return content[: 2 * 2**20]


def _place(content: bytes, dice: random.Random) -> int:
    return dice.randrange(len(content) + 1)


def _flipped(content: bytes, dice: random.Random) -> bytes:
    made = bytearray(content or b"x")
    for _ in range(dice.choice((1, 3, 20))):
        made[dice.randrange(len(made))] = dice.randrange(256)
    return bytes(made)


def _cut(content: bytes, dice: random.Random) -> bytes:
    return content[: _place(content, dice)]


def _inserted(content: bytes, dice: random.Random) -> bytes:
    at = _place(content, dice)
    return content[:at] + dice.choice(ODD_BYTES) + content[at:]


def _removed(content: bytes, dice: random.Random) -> bytes:
    first, last = sorted((_place(content, dice), _place(content, dice)))
    return content[:first] + content[min(last, first + 200) :]


def _repeated(content: bytes, dice: random.Random) -> bytes:
    first, last = sorted((_place(content, dice), _place(content, dice)))
    piece = content[first : min(last, first + 200)]
    return content[:last] + piece * dice.choice((1, 3, 50)) + content[last:]


def _lines_mixed(content: bytes, dice: random.Random) -> bytes:
    lines = content.split(b"\n")
    dice.shuffle(lines)
    return b"\n".join(lines)


def _number_changed(content: bytes, dice: random.Random) -> bytes:
    places = [n for n, byte in enumerate(content) if 48 <= byte <= 57]
    if not places:
        return _inserted(content, dice)
    at = dice.choice(places)
    odd = dice.choice(
        (b"-1", b"0", b"1e308", b"99999999999999999999", b"0.0001", b"", b"x", b"007")
    )
    return content[:at] + odd + content[at + 1 :]


def _recoded(content: bytes, dice: random.Random) -> bytes:
    code = dice.choice(("utf-16", "utf-8-sig", "cp950", "latin-1"))
    return content.decode("utf-8", "replace").encode(code, "replace")


def _value_changed(content: bytes, dice: random.Random) -> bytes:
    """Another value somewhere in JSON, or in one line of JSON lines."""
    lines = content.split(b"\n")
    at = dice.randrange(len(lines))
    for whole in (True, False):
        try:
            tree = json.loads(content if whole else lines[at])
        except (ValueError, RecursionError):
            continue
        changed = _with_odd(tree, dice)
        try:
            made = json.dumps(changed).encode()
        except (ValueError, RecursionError):
            return _inserted(content, dice)
        return made if whole else b"\n".join([*lines[:at], made, *lines[at + 1 :]])
    return _number_changed(content, dice)


def _with_odd(tree: Any, dice: random.Random) -> Any:
    """Change one value on a random way down."""
    if isinstance(tree, dict) and tree and dice.random() < 0.93:
        key = dice.choice(list(tree))
        deed = dice.random()
        if deed < 0.06:
            return {name: value for name, value in tree.items() if name != key}
        if deed < 0.1:
            return {**tree, dice.choice(("x", "\x1b[0m", "\u202e", "")): dice.choice(ODD_VALUES)}
        return {**tree, key: _with_odd(tree[key], dice)}
    if isinstance(tree, list) and tree and dice.random() < 0.93:
        at = dice.randrange(len(tree))
        if dice.random() < 0.06:
            return tree + [tree[at]] * dice.choice((1, 30))
        return [*tree[:at], _with_odd(tree[at], dice), *tree[at + 1 :]]
    return dice.choice(ODD_VALUES)


WAYS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flipped,
    _cut,
    _inserted,
    _removed,
    _repeated,
    _lines_mixed,
    _number_changed,
    _number_changed,
    _recoded,
    *(_value_changed,) * 6,
)
