"""Writers of protocol and burn-in plan by form: one table each, for commands and window."""

from collections.abc import Callable

import msgspec

from rigplanner.asbuilt.acceptance import Acceptance, acceptance_json
from rigplanner.asbuilt.burn_in import BurnInPlan
from rigplanner.catalog.load import Catalog
from rigplanner.plain_text import json_without_steering, without_steering
from rigplanner.report.acceptance.content import protocol
from rigplanner.report.acceptance.plain import plan_html, plan_text, protocol_html, protocol_text
from rigplanner.rig.document import Rig


def _pdf(made: Acceptance, rig: Rig, catalog: Catalog, paper: str) -> bytes:
    from rigplanner.report.acceptance.pdf import protocol_pdf

    return protocol_pdf(protocol(made, rig, catalog), paper)


def _text(words: str) -> bytes:
    return without_steering(words).encode()


def _plan_pdf(plan: BurnInPlan, paper: str) -> bytes:
    from rigplanner.report.acceptance.pdf import plan_pdf

    return plan_pdf(plan, paper)


PROTOCOLS: dict[str, Callable[[Acceptance, Rig, Catalog, str], bytes]] = {
    "text": lambda made, rig, catalog, _: _text(protocol_text(protocol(made, rig, catalog))),
    "json": lambda made, rig, catalog, _: json_without_steering(acceptance_json(made)),
    "pdf": _pdf,
    "html": lambda made, rig, catalog, _: _text(protocol_html(protocol(made, rig, catalog))),
}
"""Writers of an acceptance, with the rig, the catalog and the paper."""
PLANS: dict[str, Callable[[BurnInPlan, str], bytes]] = {
    "text": lambda plan, _: _text(plan_text(plan)),
    "json": lambda plan, _: json_without_steering(
        msgspec.json.format(msgspec.json.encode(plan), indent=1) + b"\n"
    ),
    "pdf": _plan_pdf,
    "html": lambda plan, _: _text(plan_html(plan)),
}
"""Writers of a burn-in plan, with the paper."""
