"""A small XML reader for topology files: elements, attributes, comments; no entities of its own, no
document type, limits."""

import re

from msgspec import Struct

LARGEST_TEXT = 4 * 2**20
DEEPEST = 64
MOST_ATTRIBUTES = 64
LONGEST_VALUE = 4096

_TOKEN = re.compile(
    r"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[|<!|</\s*([\w:.-]+)\s*>|<([\w:.-]+)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"\s*([\w:.-]+)\s*=\s*(\"[^\"]*\"|'[^']*')")
_ENTITY = re.compile(r"&(#\d{1,7}|#x[0-9a-fA-F]{1,6}|\w+);")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


class XmlFault(ValueError):
    """Text that is no XML of this kind; says on which line."""


class Element(Struct):
    """An element; text between elements is dropped, topology files have none."""

    name: str
    attributes: dict[str, str]
    children: list["Element"]


def parse_xml(text: str, most_elements: int) -> Element:
    """Return the outermost element. Raises XmlFault for anything but elements, attributes, comments
    and the five entities that XML itself defines, and for text beyond the limits."""
    if len(text) > LARGEST_TEXT:
        raise XmlFault(f"The file is larger than {LARGEST_TEXT // 2**20} MiB.")
    root: Element | None = None
    stack: list[Element] = []
    count = 0
    for token in _TOKEN.finditer(text):
        line = text.count("\n", 0, token.start()) + 1
        if token[0].startswith("<!--") or token[0].startswith("<?"):
            continue
        if token[0].startswith("<!"):
            if _is_plain_doctype(text, token.start()):
                continue
            raise XmlFault(f"Line {line}: document types, entities and CDATA are not read.")
        if token[1] is not None:
            if not stack or stack[-1].name != token[1]:
                raise XmlFault(f"Line {line}: </{token[1]}> closes no open element.")
            stack.pop()
            continue
        count += 1
        if count > most_elements or len(stack) >= DEEPEST:
            raise XmlFault(
                f"Line {line}: more than {most_elements} elements, or more than {DEEPEST} levels."
            )
        if root is not None and not stack:
            raise XmlFault(f"Line {line}: a second outermost element {token[2]!r}.")
        element = Element(token[2], _attributes(token[3].rstrip("/ \t\r\n"), line), [])
        if stack:
            stack[-1].children.append(element)
        root = root if root is not None else element
        if not token[0].endswith("/>"):
            stack.append(element)
    if root is None or stack:
        raise XmlFault(
            f"The file ends inside {stack[-1].name!r}." if stack else "No XML element was found."
        )
    return root


def _is_plain_doctype(text: str, start: int) -> bool:
    """Say whether a declaration is a document type without an internal subset, as hwloc writes it;
    nothing is fetched."""
    end = text.find(">", start)
    return text.startswith("<!DOCTYPE", start) and end > 0 and "[" not in text[start:end]


def _attributes(text: str, line: int) -> dict[str, str]:
    found: dict[str, str] = {}
    position = 0
    while position < len(text.rstrip()):
        match = _ATTRIBUTE.match(text, position)
        if match is None:
            raise XmlFault(
                f'Line {line}: expected name="value", found'
                f" {text[position : position + 20].strip()!r}."
            )
        if match[1] in found or len(found) >= MOST_ATTRIBUTES or len(match[2]) > LONGEST_VALUE:
            raise XmlFault(
                f"Line {line}: the attribute {match[1]} is doubled, too long or one too many."
            )
        found[match[1]] = _ENTITY.sub(lambda entity: _resolved(entity[1], line), match[2][1:-1])
        position = match.end()
    return found


def _resolved(entity: str, line: int) -> str:
    if entity in _NAMED:
        return _NAMED[entity]
    if entity.startswith("#"):
        code = int(entity[2:], 16) if entity[1] in "xX" else int(entity[1:])
        if 0 < code < 0x110000:
            return chr(code)
    raise XmlFault(f"Line {line}: the entity &{entity}; is not defined.")
