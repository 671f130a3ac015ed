"""Which edits put a part into the rig, and what the step is called."""

from rigplanner.catalog.schema.parts import Part, kind_of
from rigplanner.report.language import tr
from rigplanner.rig.document import Rig
from rigplanner.rig.edits import Edit


def choice_edits(rig: Rig, part: Part, uid: str) -> tuple[Edit, ...]:
    """Return the edits that replace the item `uid` by a part, or add the part when there is no such
    item."""
    if uid and rig.item(uid) is not None:
        return (Edit("replace_part", {"uid": uid, "part": part.id}),)
    return (Edit("add_part", {"part": part.id, "stem": kind_of(part)}),)


def choice_name(rig: Rig, part: Part, uid: str, old_name: str) -> str:
    """Return what the step is called in the history."""
    return (
        tr("Replace {old_name} by {name}", old_name=old_name, name=part.name)
        if uid and rig.item(uid) is not None
        else tr("Add {name}", name=part.name)
    )
