"""What lint says of a part."""

from msgspec import Struct


class Complaint(Struct, frozen=True):
    """One thing that is wrong: the part, the field, a stable code and the values that disagree."""

    part: str
    field: str
    code: str
    found: str
    expected: str = ""
