"""The seller's logo: a picture that travels inside the rig as text; anything else is refused."""

import base64
import errno
import io
import re
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from rigplanner.report.language import tr
from rigplanner.report.paper.tagging import drawn_as
from rigplanner.whole_file import read_within

LOGO_SIZE = (150.0, 46.0)
LOGO_TYPES = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg"}
LARGEST_LOGO_BYTES, LARGEST_LOGO_PIXELS = 4 * 2**20, 16_000_000
DECODERS = ("PNG", "JPEG")
"""The only decoders that see a picture: others start programs (Ghostscript) or open files."""
_CARRIED = re.compile(r"data:image/(?:png|jpeg)(?:;name=([^;,]{0,600}))?;base64,")


def carried(content: bytes, kind: str, name: str) -> str:
    """Return a picture ("png" or "jpeg") and its file's name as one text, a data address (RFC
    2397)."""
    code = base64.b64encode(content).decode()
    return f"data:image/{kind};name={quote(name[:100], safe='')};base64,{code}"


def logo_name(text: str) -> str:
    """Return what a person calls a logo: the file's name of a picture that is carried, else the
    path as it is."""
    found = _CARRIED.match(text)
    return unquote(found[1] or "") if found else text


def logo_content(text: str) -> bytes:
    """Return the bytes of a picture that is carried. Raises ValueError for any other text: a path
    in a rig is never followed, for a stranger may have written it."""
    found = _CARRIED.match(text)
    if found is None or len(text) > 2 * LARGEST_LOGO_BYTES:
        raise ValueError("no picture")
    return base64.b64decode(text[found.end() :].encode(), validate=True)


def logo_fault(text: str) -> str:
    """Return why a rig's logo is not printed, "" when it is or there is none."""
    if not text:
        return ""
    if _CARRIED.match(text) is None:
        return tr(
            "The logo is a name of a file ({name}), which is not opened; choose the picture anew.",
            name=text[:100],
        )
    name = logo_name(text)[:100] or tr("Logo")
    try:
        return picture_fault(logo_content(text), name)
    except ValueError:
        return tr("{name}: not a picture.", name=name)


def chosen_picture(path: Path) -> tuple[bytes, str]:
    """Return the bytes of a picture file that a person chose, and why it cannot be the logo, ""
    when it can."""
    name = path.name[:100]
    if path.suffix.casefold() not in LOGO_TYPES:
        return b"", tr("{name}: a logo is a PNG, JPEG or SVG file.", name=name)
    try:
        content = read_within(path, LARGEST_LOGO_BYTES)
    except OSError as fault:
        if fault.errno == errno.EFBIG:
            return b"", tr("{name}: a logo has at most 4 MiB.", name=name)
        reason = fault.strerror or str(fault)
        return b"", tr("{path}: cannot be read ({reason}).", path=str(path)[:200], reason=reason)
    return content, picture_fault(content, name)


def picture_fault(content: bytes, name: str) -> str:
    """Return why bytes cannot be the logo, "" when they can: decoded whole, by named decoders
    alone. `name` stands in the message."""
    try:
        _size(content)
    except _TooLarge:
        return tr("{name}: a logo has at most 16 million pixels.", name=name)
    except ValueError:
        return tr("{name}: not a picture.", name=name)
    return ""


class _TooLarge(ValueError):
    """More pixels than a logo has."""


def _size(content: bytes) -> tuple[int, int]:
    """Return width and height of a picture that can be decoded to its end. Raises ValueError."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(io.BytesIO(content), formats=DECODERS) as picture:
                width, height = picture.size
                if width * height <= LARGEST_LOGO_PIXELS:
                    picture.load()
        except (Image.DecompressionBombError, Image.DecompressionBombWarning) as fault:
            raise _TooLarge(str(fault)) from fault
        except Exception as fault:  # any decoder fault of a foreign picture
            raise ValueError(str(fault)) from fault
    if width * height > LARGEST_LOGO_PIXELS:
        raise _TooLarge(f"{width} x {height}")
    return width, height


def logo_flowable(text: str) -> Any | None:
    """Return the seller's logo, at most LOGO_SIZE points; None for what cannot be one."""
    from reportlab.platypus import Image

    if not text or logo_fault(text):
        return None
    content = logo_content(text)
    width, height = _size(content)
    scale = min(LOGO_SIZE[0] / width, LOGO_SIZE[1] / height)
    made = Image(io.BytesIO(content), width * scale, height * scale, hAlign="LEFT", mask="auto")
    return drawn_as(made, "Figure", tr("Logo"))
