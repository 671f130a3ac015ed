"""Variants of a rig: states that are kept beside the open one in the same file, each with a name
of its own."""

from msgspec.structs import replace

from rigplanner.rig.document import Rig, Variant

MOST_VARIANTS = 24


class VariantFault(ValueError):
    """A variant that cannot be kept or taken; the text says why."""


def variant_names(rig: Rig) -> tuple[str, ...]:
    """Return the names of the kept variants in the order in which they were kept."""
    return tuple(variant.name for variant in rig.variants)


def is_taken(rig: Rig, name: str) -> bool:
    """Whether the open rig or a variant has a name; capitals do not tell names apart."""
    wanted = _folded(name)
    return wanted in {_folded(each) for each in (rig.name, *variant_names(rig))}


def free_name(rig: Rig, wanted: str) -> str:
    """Return `wanted`, or "`wanted` 2", "`wanted` 3" ... when it is taken."""
    names = (wanted, *(f"{wanted} {n}" for n in range(2, MOST_VARIANTS + 4)))
    return next(name for name in names if not is_taken(rig, name))


def state_of(rig: Rig, name: str) -> Rig:
    """Return what a variant keeps of a rig: all but the other variants and the file's snapshot."""
    return replace(rig, name=name, variants=(), snapshot={}, snapshot_sources={})


def with_variant(rig: Rig, name: str) -> Rig:
    """Return the rig with its present state kept under a name. Raises VariantFault for an empty
    name, one that is taken, or too many."""
    name = " ".join(name.split())
    if not name:
        raise VariantFault("A variant needs a name.")
    if is_taken(rig, name):
        raise VariantFault(f"The name {name} is taken; give the variant another.")
    if len(rig.variants) >= MOST_VARIANTS:
        raise VariantFault(f"A rig keeps at most {MOST_VARIANTS} variants; remove one first.")
    return replace(rig, variants=(*rig.variants, Variant(name=name, rig=state_of(rig, name))))


def exchanged(rig: Rig, name: str) -> Rig:
    """Return the rig with a variant as the open state; the former one is kept in its stead, so that
    nothing is lost. Raises VariantFault when there is no such variant."""
    chosen = next((each for each in rig.variants if _folded(each.name) == _folded(name)), None)
    if chosen is None:
        raise VariantFault(f"The rig has no variant {name}.")
    former = Variant(name=rig.name, rig=state_of(rig, rig.name))
    variants = tuple(former if each is chosen else each for each in rig.variants)
    return replace(
        chosen.rig,
        variants=variants,
        snapshot=rig.snapshot,
        snapshot_sources=rig.snapshot_sources,
    )


def without_variant(rig: Rig, name: str) -> Rig:
    """Return the rig without a variant. Raises VariantFault when there is no such variant."""
    left = tuple(each for each in rig.variants if _folded(each.name) != _folded(name))
    if len(left) == len(rig.variants):
        raise VariantFault(f"The rig has no variant {name}.")
    return replace(rig, variants=left)


def states(rig: Rig) -> tuple[Rig, ...]:
    """Return the open state and the kept ones as rigs that can be judged by themselves."""
    kept = (
        replace(each.rig, snapshot=rig.snapshot, snapshot_sources=rig.snapshot_sources)
        for each in rig.variants
    )
    return (rig, *kept)


def wrong_names(rig: Rig) -> str:
    """Return what is wrong with the variants of a file, "" for nothing."""
    if len(rig.variants) > MOST_VARIANTS:
        return f"{len(rig.variants)} variants are more than a rig keeps ({MOST_VARIANTS})."
    seen = {_folded(rig.name)}
    for n, variant in enumerate(rig.variants):
        if not variant.name.strip() or _folded(variant.name) in seen:
            return f"variants[{n}].name: {variant.name[:40]!r} is empty or used twice."
        if variant.rig.variants:
            return f"variants[{n}].rig: a variant keeps no variants of its own."
        seen.add(_folded(variant.name))
    return ""


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()
