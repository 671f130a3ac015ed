"""The seller's logo: a picture that travels inside the rig as text, or a file that is named; what
cannot be one is refused."""

import base64
import binascii
import io
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from rigplanner.report.language import tr
from rigplanner.report.paper.tagging import drawn_as
from rigplanner.whole_file import read_within

LOGO_SIZE = (150.0, 46.0)
LOGO_TYPES = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg"}
LARGEST_LOGO_BYTES, LARGEST_LOGO_PIXELS = 4 * 2**20, 16_000_000
_CARRIED = re.compile(r"data:image/(?:png|jpeg);name=([^;,]{0,600});base64,")


def carried(content: bytes, kind: str, name: str) -> str:
    """Return a picture ("png" or "jpeg") and its file's name as one text, a data address (RFC
    2397)."""
    code = base64.b64encode(content).decode()
    return f"data:image/{kind};name={quote(name[:100], safe='')};base64,{code}"


def logo_name(text: str) -> str:
    """Return what a person calls a logo: the file's name of a picture that is carried, else the
    path as it is."""
    found = _CARRIED.match(text)
    return unquote(found[1]) if found else text


def logo_content(text: str) -> bytes:
    """Return the bytes of a logo; raises OSError for a file that cannot be read, ValueError for
    what is no picture's text."""
    found = _CARRIED.match(text)
    if found is None:
        return read_within(Path(text), LARGEST_LOGO_BYTES)
    if len(text) > 2 * LARGEST_LOGO_BYTES:
        raise ValueError("too long")
    return base64.b64decode(text[found.end() :].encode(), validate=True)


def logo_fault(text: str) -> str:
    """Return why something cannot be the logo of the letterhead, "" when it can or none is
    named."""
    if not text:
        return ""
    name, is_file = Path(logo_name(text)).name[:100], _CARRIED.match(text) is None
    if is_file and Path(text).suffix.casefold() not in LOGO_TYPES:
        return tr("{name}: a logo is a PNG, JPEG or SVG file.", name=name)
    try:
        if is_file and Path(text).stat().st_size > LARGEST_LOGO_BYTES:
            return tr("{name}: a logo has at most 4 MiB.", name=name)
        width, height = _size(logo_content(text))
    except OSError as fault:
        if fault.strerror:
            return tr("{path}: cannot be read ({reason}).", path=text[:200], reason=fault.strerror)
        return tr("{name}: not a picture.", name=name)
    except (ValueError, binascii.Error):
        return tr("{name}: not a picture.", name=name)
    if not 0 < width * height <= LARGEST_LOGO_PIXELS:
        return tr("{name}: a logo has at most 16 million pixels.", name=name)
    return ""


def _size(content: bytes) -> tuple[int, int]:
    """Return width and height; raises ValueError for whatever the decoder cannot read."""
    from reportlab.lib.utils import ImageReader

    try:
        width, height = ImageReader(io.BytesIO(content)).getSize()
    except Exception as fault:  # any decoder fault of a foreign image
        raise ValueError(str(fault)) from fault
    return width, height


def logo_flowable(text: str) -> Any | None:
    """Return the seller's logo, at most LOGO_SIZE points; None for a missing, large or foreign
    file."""
    from reportlab.platypus import Image

    if not text or logo_fault(text):
        return None
    content = logo_content(text)
    width, height = _size(content)
    scale = min(LOGO_SIZE[0] / width, LOGO_SIZE[1] / height)
    made = Image(io.BytesIO(content), width * scale, height * scale, hAlign="LEFT", mask="auto")
    return drawn_as(made, "Figure", tr("Logo"))
