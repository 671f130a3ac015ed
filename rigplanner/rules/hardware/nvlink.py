"""NVLink: bridges, the cards they join, and islands."""

from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from rigplanner.catalog.schema.parts import GPU, Bridge
from rigplanner.machine.model import PlacementProblem
from rigplanner.machine.placement.bridging import distance, fits_connector
from rigplanner.machine.topology.interconnect import nodes_of
from rigplanner.rig.edits import Edit
from rigplanner.rules.core.context import Card, Context, JobFacts
from rigplanner.rules.core.finding import Finding, Fix, Named
from rigplanner.rules.core.fixes import cheapest_of, fix, item_of, move, swap
from rigplanner.rules.core.moves import harmless
from rigplanner.rules.core.registry import rule

CHART = "Puget Systems NVLink compatibility charts (1330 and 2074)"


class Joining(Struct, frozen=True):
    """A bridge and the two cards that it joins or should join."""

    name: str
    bridge: Bridge
    cards: tuple[Card, ...]
    card: GPU
    problem: PlacementProblem | None

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.name, *(card.name for card in self.cards))


def joining(context: Context) -> Iterator[Joining]:
    """Every bridge with the cards its place names, else all cards of the rig; one whose connector
    stops it stands first."""
    cards = {card.name: card for card in context.cards}
    problems = {problem.piece: problem for problem in reversed(context.machine.problems)}
    for name, bridge in context.bridges:
        found = item_of(context, name)
        place = found[0].place_of(found[1]) if found else ""
        pair = tuple(cards[word] for word in place.split("+") if word in cards) or tuple(
            cards.values()
        )
        problem = problems.get(name)
        if problem is not None and problem.reason == "bridge-connector":
            pair = tuple(
                sorted(pair, key=lambda card: fits_connector(bridge, card.card) is not False)
            )
        if pair:
            yield Joining(name, bridge, pair, pair[0].card, problem)


def _remove(context: Context, name: str) -> tuple[Fix, ...]:
    found = item_of(context, name)
    return (
        (fix(context, "remove", Edit("remove_item", {"uid": found[0].uid}), piece=name),)
        if found
        else ()
    )


@rule(
    "NVL001",
    "Card has no NVLink connector",
    "error",
    over=joining,
    needs=("card.has_nvlink",),
    reason=(
        "A bridge does nothing on a card without the connector: no GeForce 40 or 50, no RTX Ada, no"
        " RTX PRO Blackwell has one."
    ),
    source="NVIDIA product pages; captured topologies show PCIe labels only",
)
def no_connector(context: Context, case: Joining) -> Iterator[Finding]:
    """Name the first card that lacks the connector."""
    if case.card.has_nvlink is False:
        yield no_connector.finding(
            case, subjects=(case.name, case.cards[0].name), fixes=_remove(context, case.name)
        )


def linked(context: Context) -> Iterator[Joining]:
    """Bridges on cards that have the connector."""
    for case in joining(context):
        if case.card.has_nvlink is not False:
            yield case


@rule(
    "NVL002",
    "Bridge does not fit the card's connector",
    "error",
    over=linked,
    needs=("card.nvlink.connector",),
    reason=(
        "Connectors changed between generations: a Turing bridge does not go onto an Ampere card."
    ),
    source=CHART,
)
def connector(context: Context, case: Joining) -> Iterator[Finding]:
    """Compare connectors, or the verdict of a test of this very pair."""
    port = case.card.nvlink
    proven = case.bridge.proven_with.get(case.card.id)
    if port is None or proven in ("tested", "design"):
        return
    if proven == "no" or (
        proven is None
        and (port.connector != case.bridge.connector or port.generation != case.bridge.generation)
    ):
        spacing = case.bridge.spacing_slots
        fixes = swap(
            context,
            "other-bridge",
            case.name,
            lambda other: (
                other.connector == port.connector
                and other.generation == port.generation
                and other.spacing_slots == spacing
                and other.proven_with.get(case.card.id) != "no"
            ),
        )
        fixes = harmless(context, fixes, "NVL002", "NVL003", "NVL005")
        yield connector.finding(
            case, needed=port.connector, actual=case.bridge.connector, fixes=fixes
        )


@rule(
    "NVL003",
    "Bridge length does not match the slots",
    "error",
    over=linked,
    needs=("bridge.spacing_slots",),
    reason="A bridge is rigid: its length must equal the distance of the two slots.",
    source="NVIDIA and ZOTAC spacing tables",
)
def spacing(context: Context, case: Joining) -> Iterator[Finding]:
    """Compare the bridge's length with the distance of the cards, in slots."""
    problem = case.problem
    if problem is None or problem.reason != "bridge-spacing":
        if len(case.cards) == 2 and not (problem and problem.reason.startswith("bridge")):
            missing = [
                f"{card.board.id}:{card.slot.id}.position"
                for card in case.cards
                if card.slot
                and card.board
                and card.slot.position is None
                and card.slot.kind == "pcie"
            ]
            if missing:
                yield spacing.unknown(case, *missing)
        return
    port = case.card.nvlink
    actual = problem.actual if isinstance(problem.actual, int | float) else None
    fixes = swap(
        context,
        "other-bridge",
        case.name,
        lambda other: (
            port is not None
            and other.connector == port.connector
            and other.generation == port.generation
            and other.spacing_slots == actual
            and other.proven_with.get(case.card.id) != "no"
        ),
    )
    fixes = harmless(context, fixes, "NVL005")
    yield spacing.finding(
        case, needed=problem.needed, actual=problem.actual, unit="slots", fixes=fixes
    )


@rule(
    "NVL004",
    "Bridged cards are not the same model",
    "error",
    over=linked,
    needs=("card.nvlink",),
    reason="NVLink between cards works only on two cards of one model.",
    source=CHART,
)
def identical(context: Context, case: Joining) -> Iterator[Finding]:
    """Compare the two models."""
    if case.problem is not None and case.problem.reason == "bridge-identical":
        others = [card for card in case.cards if card.card.id != case.card.id]
        found = item_of(context, others[0].name) if others else None
        edits = (
            (Edit("replace_part", {"uid": found[0].uid, "part": case.card.id}),) if found else ()
        )
        yield identical.finding(
            case,
            needed=case.card.id,
            actual=others[0].card.id if others else None,
            fixes=(fix(context, "same-card", *edits, part=case.card.id),) if edits else (),
        )


@rule(
    "NVL005",
    "Bridge finds no free pair of cards",
    "error",
    over=linked,
    needs=("card.nvlink",),
    reason="A bridge joins two cards, and a card carries one bridge, or three on A100 and H100.",
    source="NVIDIA product briefs",
)
def no_pair(context: Context, case: Joining) -> Iterator[Finding]:
    """The solver found no pair for the bridge."""
    if case.problem is not None and case.problem.reason == "bridge-pair":
        edit = move(context, case.name, "")
        wished = (
            (fix(context, "let-solver-place", edit, piece=case.name),)
            if edit and case.problem.place
            else ()
        )
        yield no_pair.finding(
            case, subjects=(case.name,), fixes=wished or _remove(context, case.name)
        )


@rule(
    "NVL006",
    "Bridge is not proven with this card",
    "warning",
    over=linked,
    needs=("bridge.proven_with",),
    reason="Which bridge works on which card is a matter of tests, not of rules.",
    source=CHART,
)
def proven(context: Context, case: Joining) -> Iterator[Finding]:
    """A warning where the maker or a tester says only that it should work, or says nothing of this
    card."""
    verdict = case.bridge.proven_with.get(case.card.id)
    port = case.card.nvlink
    fits = (
        port is not None
        and port.connector == case.bridge.connector
        and port.generation == case.bridge.generation
    )
    if verdict == "should" or (verdict is None and fits):
        fixes = swap(
            context,
            "other-bridge",
            case.name,
            lambda other: (
                other.proven_with.get(case.card.id) in ("tested", "design")
                and other.spacing_slots == case.bridge.spacing_slots
            ),
        )
        yield proven.finding(case, "warning" if verdict == "should" else "info", fixes=fixes)


@rule(
    "NVL007",
    "Pair has fewer bridges than the card takes",
    "warning",
    over=linked,
    needs=("card.nvlink",),
    reason=(
        "A100 and H100 cards have three bridge positions; each bridge carries a third of the links."
    ),
    source="NVIDIA A100 and H100 PCIe product briefs",
)
def bridges_per_pair(context: Context, case: Joining) -> Iterator[Finding]:
    """Compare the number of bridges with pairs times bridges per pair, once for all bridges."""
    per_pair = case.bridge.per_pair
    if per_pair == 1 or case.name != context.bridges[0][0]:
        return
    count = sum(bridge.per_pair == per_pair for _, bridge in context.bridges)
    if count % per_pair:
        found = item_of(context, case.name)
        needed = -(-count // per_pair) * per_pair
        edit = (
            Edit(
                "set_quantity",
                {"uid": found[0].uid, "quantity": found[0].quantity + needed - count},
            )
            if found
            else None
        )
        yield bridges_per_pair.finding(
            case,
            needed=needed,
            actual=count,
            unit="bridges",
            fixes=(fix(context, "more-bridges", edit, count=needed),) if edit else (),
        )


class Islands(Named, frozen=True):
    """Groups of GPUs with NVLink inside and PCIe between, of the node that has most of them, and
    the job that spans them."""

    job: JobFacts | None
    islands: tuple[tuple[int, ...], ...]


def island_jobs(context: Context) -> Iterator[Islands]:
    """Jobs on rigs of several GPUs with some NVLink; the rig itself where it names no job."""
    machine = context.machine
    if len(machine.gpu_parts) > 2 and any(
        edge.kind in ("nvlink", "xgmi", "nvswitch") for edge in machine.edges
    ):
        nodes = nodes_of(machine, tuple(range(len(machine.gpus))))
        inside = [
            tuple(island for island in machine.islands if set(island) <= set(node))
            for node in nodes.values()
        ]
        islands = max(inside, key=len) if len(nodes) > 1 else machine.islands
        for job in context.jobs:
            yield Islands(job.name, job, islands)
        if not context.jobs:
            yield Islands(machine.gpu_parts[0].piece, None, islands)


@rule(
    "NVL008",
    "Job spans NVLink islands",
    "warning",
    over=island_jobs,
    needs=("islands",),
    reason=(
        "As soon as a collective leaves a bridged pair it runs at the rate of PCIe: 208 GB/s inside"
        " a pair of A100, 20 over three cards."
    ),
    source="Measured all-reduce of bridged A100 cards",
)
def across_islands(context: Context, case: Islands) -> Iterator[Finding]:
    """Warn when a job over all GPUs is cut into islands; a tensor degree that fits an island is
    only a remark."""
    if len(case.islands) < 2:
        return
    plan = case.job.workload.parallelism if case.job else None
    largest = max(len(island) for island in case.islands)
    inside = plan is not None and 1 < plan.tensor <= largest
    yield across_islands.finding(
        case,
        "info" if inside else "warning",
        needed=1,
        actual=len(case.islands),
        unit="islands",
        islands=[list(island) for island in case.islands],
    )


class Asking(Named, frozen=True):
    """A job that asks for NVLink, and the first GPU."""

    card: GPU


def asking(context: Context) -> Iterator[Asking]:
    """Jobs whose flags ask for NVLink."""
    gpus = context.machine.gpu_parts
    for job in context.jobs:
        if "nvlink" in job.workload.flags and len(gpus) > 1:
            yield Asking(job.name, gpus[0].gpu)


@rule(
    "NVL009",
    "Job asks for NVLink and there is none",
    "error",
    over=asking,
    needs=("card.has_nvlink",),
    reason="The cards have no connector, or nothing joins them.",
    source="NVIDIA product pages",
)
def wanted(context: Context, case: Asking) -> Iterator[Finding]:
    """An error where the machine has no link but PCIe."""
    if not any(edge.kind in ("nvlink", "xgmi", "nvswitch") for edge in context.machine.edges):
        yield wanted.finding(case, has_connector=case.card.has_nvlink, gpu=case.card.id)


class Apart(Struct, frozen=True):
    """Pairs of equal cards with an NVLink connector that no bridge joins, all as many slots apart;
    None where the positions of their slots are not known."""

    pairs: tuple[tuple[Card, Card], ...]
    slots: int | None

    @property
    def subjects(self) -> tuple[str, ...]:
        return tuple(card.name for pair in self.pairs for card in pair)


def unbridged(context: Context) -> Iterator[Apart]:
    """Neighbours among the cards that jobs run on, where the rig has no bridge."""
    if context.bridges:
        return
    free = [
        card
        for card in context.that_work(context.own_cards)
        if card.card.has_nvlink and card.card.form_factor == "pcie" and card.slot is not None
    ]
    free.sort(key=_standing)
    groups: dict[tuple[str, int | None], list[tuple[Card, Card]]] = {}
    joined: set[str] = set()
    for one, two in pairwise(free):
        same = _standing(one)[0] == _standing(two)[0] and one.card.id == two.card.id
        if same and one.name not in joined:
            joined.update((one.name, two.name))
            apart = distance(one.slot, two.slot)
            groups.setdefault((one.card.id, apart), []).append((one, two))
    for (_, apart), pairs in groups.items():
        yield Apart(tuple(pairs), apart)


def _standing(card: Card) -> tuple[str, bool, int, str]:
    held, slot = card.held, card.slot
    position = slot.position if slot else None
    return held.board if held else "", position is None, position or 0, slot.id if slot else ""


@rule(
    "NVL010",
    "Bridge could join these cards",
    "info",
    over=unbridged,
    reason=(
        "Equal cards with the connector exchange over PCIe until a bridge of the right length joins"
        " them."
    ),
    source=CHART,
)
def could_join(context: Context, case: Apart) -> Iterator[Finding]:
    """Propose the bridge that spans the slots; silent where none is made of that length."""
    card = case.pairs[0][0].card
    bridge = cheapest_of(
        context,
        "bridge",
        lambda other: (
            other.gpus == 2
            and bool(fits_connector(other, card))
            and case.slots in (None, other.spacing_slots)
        ),
        strange=lambda other: other.proven_with.get(card.id) not in ("tested", "design"),
    )
    if not isinstance(bridge, Bridge):
        return
    if case.slots is None:
        yield could_join.finding(case, variant="unmeasured", card=card.id)
        return
    count = bridge.per_pair * len(case.pairs)
    edit = Edit("add_part", {"part": bridge.id, "stem": "bridge", "quantity": count})
    ways = (fix(context, "add-bridge", edit, count=count, part=bridge.id),)
    yield could_join.finding(case, needed=case.slots, unit="slots", fixes=ways, card=card.id)
