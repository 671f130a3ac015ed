"""What was made of equal things lately, kept: boards stay the same while one part after another is
tried on them."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class IdentityCache(Generic[T]):
    """The last answers of a pure function. An entry keeps the objects its key speaks of by
    identity, so ids are not reused."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[Hashable, tuple[T, object]] = OrderedDict()

    def get(self, key: Hashable, kept: object, make: Callable[[], T]) -> T:
        """Return the answer for a key, made unless it is known; `kept` are the objects that the key
        names."""
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = (make(), kept)
            if len(self._entries) > self._most:
                self._entries.popitem(last=False)
        return entry[0]
