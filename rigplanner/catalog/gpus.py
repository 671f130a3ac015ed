"""Which GPU of the shipped catalog does a question name? One, or a fault that says why none."""

from functools import cache

from rigplanner.catalog.cloud import shipped_cloud
from rigplanner.catalog.find.find import index_of
from rigplanner.catalog.find.gpu_names import shipped_gpu_names
from rigplanner.catalog.find.words import words_of
from rigplanner.catalog.load import shipped_catalog
from rigplanner.catalog.schema.parts import GPU, System
from rigplanner.errors import WorkloadFault


@cache
def gpus_by_name() -> dict[str, GPU]:
    """Return the GPUs of the shipped catalog by id, name and alias in lower case."""
    found: dict[str, GPU] = {}
    for part in shipped_catalog().of_kind("gpu"):
        if isinstance(part, GPU):
            for name in (part.id, part.name, *part.aliases):
                found.setdefault(name.casefold(), part)
    return found


@cache
def gpus_built_in() -> dict[frozenset[str], GPU]:
    """Return the GPU of each computer that is sold with just one built in, by the words of the
    computer's names."""
    catalog, found = shipped_catalog(), dict[frozenset[str], GPU]()
    for system in catalog.of_kind("system"):
        assert isinstance(system, System)
        held = [(catalog.parts.get(one.part), one.quantity) for one in system.includes]
        gpus = [(part, count) for part, count in held if isinstance(part, GPU)]
        if len(gpus) == 1 and gpus[0][1] == 1:
            for name in (system.name, *system.aliases):
                found.setdefault(frozenset(words_of(name)), gpus[0][0])
    return found


MOST_ALIKE = 24
"""Computers that a name is looked for in."""


def _built_in(name: str) -> GPU | None:
    """Return the GPU of the computer that a name means, or of all whose names hold its words
    ("framework desktop 128gb"); None where they have different ones."""
    known = gpus_built_in()
    if exact := known.get(frozenset(words_of(name))):
        return exact
    alike = index_of(shipped_catalog()).find(name, "system", limit=MOST_ALIKE)
    gpus = [known.get(frozenset(words_of(system.name))) for system in alike]
    return gpus[0] if gpus and all(gpu is gpus[0] for gpu in gpus) else None


def find_gpu(name: str | None) -> GPU:
    """Return the GPU that `name` means; raise WorkloadFault naming those it may mean or the nearest
    when it means none or several, or the GPU of a machine for hire."""
    if not name:
        raise WorkloadFault("hardware.gpu: expected the name of a GPU, found none.")
    key = name.replace("\u2011", "-").casefold()
    known = gpus_by_name()
    if key in known:
        return known[key]
    meaning = shipped_gpu_names().meaning(name)
    if meaning.gpu:
        return meaning.gpu
    if not meaning.several and (built_in := _built_in(name)):
        return built_in
    hired = shipped_cloud().named(key)
    if hired:
        raise WorkloadFault(
            f"hardware.gpu: '{name}' is a machine for hire ({hired.provider}), not a GPU; name its"
            f" GPU instead: {hired.count} x {hired.gpu_name}."
        )
    if cpu := _cpu_named(name):
        raise WorkloadFault(
            f"hardware.gpu: '{name}' is a CPU ({cpu}), not a GPU; hardware.cpu names it for work"
            " without a GPU."
        )
    near = ", ".join(shipped_catalog().parts[part_id].name for part_id in meaning.near)
    if meaning.several:
        raise WorkloadFault(
            f"hardware.gpu: '{name}' may be several GPUs; name one of them: {near}."
        )
    if not near and (hires := shipped_cloud().nearest(name)):
        near = f"machines for hire: {', '.join(hires)}"
    raise WorkloadFault(
        f"hardware.gpu: the catalog has no '{name}'{'; the nearest are ' + near if near else ''}."
    )


def _cpu_named(name: str) -> str:
    """Return the CPU whose name ends with all of these words, "" for none."""
    words = words_of(name)
    for cpu in shipped_catalog().of_kind("cpu"):
        if words and words_of(cpu.name)[-len(words) :] == words:
            return cpu.name
    return ""
