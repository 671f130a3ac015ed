"""The one door for reading JSON: types are looked into by one thread at a time, and whatever a
decoder raises is one fault."""

from threading import RLock
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_decoders: dict[object, msgspec.json.Decoder[Any]] = {}
_making = RLock()
"""msgspec finds out how a struct is read when it is first asked, and shows what it has found so far
to every other thread: two threads that ask first at the same time end the program
(docs/upstream/msgspec-threads.md)."""


class JsonFault(msgspec.ValidationError):
    """Content that is not JSON, or not of the type wanted; the text says what and where."""


def prepared(shape: type[T]) -> type[T]:
    """Return a type after msgspec has found out how it is read: `msgspec.convert` into it is safe
    in every thread from then on."""
    _decoder(shape)
    return shape


def _decoder(shape: type[T]) -> msgspec.json.Decoder[T]:
    made = _decoders.get(shape)
    if made is None:
        with _making:
            made = _decoders.get(shape)
            if made is None:
                made = _decoders[shape] = msgspec.json.Decoder(shape)
    return made


def read_json(content: bytes | str, shape: type[T]) -> T:
    """Return `content` as a `shape`. Raises JsonFault, whatever is wrong with it."""
    decoder = _decoder(shape)
    try:
        return decoder.decode(content)
    except UnicodeDecodeError as fault:
        raise JsonFault(f"it is not UTF-8{_where(content)}") from fault
    except RecursionError as fault:
        raise JsonFault("it is nested too deeply") from fault
    except (msgspec.MsgspecError, ValueError, OverflowError) as fault:
        raise JsonFault(str(fault)) from fault


_unpackers: dict[object, msgspec.msgpack.Decoder[Any]] = {}


def read_msgpack(content: bytes | memoryview, shape: type[T]) -> T:
    """Return MessagePack as a `shape`. Raises JsonFault, whatever is wrong with it."""
    made: msgspec.msgpack.Decoder[T] | None = _unpackers.get(shape)
    if made is None:
        with _making:
            made = _unpackers.setdefault(shape, msgspec.msgpack.Decoder(shape))
    try:
        return made.decode(content)
    except RecursionError as fault:
        raise JsonFault("it is nested too deeply") from fault
    except (msgspec.MsgspecError, ValueError, OverflowError) as fault:
        raise JsonFault(str(fault)) from fault


def _where(content: bytes | str) -> str:
    try:
        content.encode() if isinstance(content, str) else content.decode()
    except UnicodeError as fault:
        return f" (byte {fault.start})" if isinstance(fault, UnicodeDecodeError) else ""
    return ""


def read_tree(content: bytes | str) -> Any:
    """Return `content` as plain values (dict, list, str, int, float, bool, None). Raises
    JsonFault, whatever is wrong with it."""
    tree: Any = read_json(content, object)
    return tree


MOST_SENSIBLE, LEAST_SENSIBLE = 1e15, 1e-15
"""No figure of a part is larger or, but for nought, smaller in the units of its field."""


def beyond_sense(tree: Any, place: str = "$") -> str:
    """Return which number of a tree is beyond all sense, "" when none is: such a figure is finite
    by itself and no longer when it is reckoned with."""
    if isinstance(tree, dict):
        inner = ((f"{place}.{str(key)[:60]}", value) for key, value in tree.items())
    elif isinstance(tree, list):
        inner = ((f"{place}[{n}]", value) for n, value in enumerate(tree))
    elif isinstance(tree, int | float) and tree and not isinstance(tree, bool):
        sensible = LEAST_SENSIBLE <= abs(tree) <= MOST_SENSIBLE
        return "" if sensible else f"{place}: a figure beyond sense"
    else:
        return ""
    return next((found for key, value in inner if (found := beyond_sense(value, key))), "")


def convert(tree: object, shape: type[T]) -> T:
    """Return a decoded `tree` as a `shape`. Raises JsonFault, whatever is wrong with it."""
    prepared(shape)
    try:
        return msgspec.convert(tree, shape)
    except RecursionError as fault:
        raise JsonFault("it is nested too deeply") from fault
    except (msgspec.MsgspecError, ValueError, OverflowError) as fault:
        raise JsonFault(str(fault)) from fault
