"""The answers of the memory model in words: parts, figures, verdict, cards, what is largest, what
would make it fit."""

from collections.abc import Iterator, Sequence
from typing import Any

from rigplanner.report.format import number, quantity
from rigplanner.report.language import Words, tr

PARTS = Words(
    {
        "weights": "weights",
        "gradients": "gradients",
        "optimizer": "optimizer states",
        "activations": "activations",
        "kv_cache": "key-value cache",
        "workspace": "workspace and buffers",
        "context": "driver and kernels",
    }
)
DETAILS = Words(
    {
        "communication": "communication buffers",
        "buffers": "dequantised matrix and copies",
        "library": "library workspaces",
        "fragmentation": "fragmentation",
        "driver": "driver's context",
        "nccl": "communicators",
        "pool": "pool of the cache",
    }
)
INNER = {
    "kv_cache": ("pool",),
    "workspace": ("communication", "buffers", "library", "fragmentation"),
    "context": ("driver", "nccl"),
}
FIGURES = Words(
    {
        "tensors_gib": "live tensors",
        "allocated_gib": "allocated",
        "reserved_gib": "reserved",
        "device_gib": "nvidia-smi shows",
    }
)
KINDS = Words(
    {
        "attention": "attention",
        "feed-forward": "feed-forward",
        "experts": "experts",
        "norms": "norms",
        "convolutions": "convolutions",
        "logits": "logits and loss",
        "embeddings": "embeddings",
        "activation functions": "activation functions",
        "dropout": "dropout",
        "pooling": "pooling",
        "blocks": "blocks",
        "head": "head",
        "backward": "gradients of activations",
        "optimizer step": "copies of the optimizer's step",
        "feature maps": "feature maps",
        "other": "other",
    }
)
CHANGES = Words(
    {
        "selective_checkpointing": "recompute attention in the backward pass",
        "checkpointing": "recompute every layer in the backward pass",
        "fused_attention": "fused attention",
        "fused_optimizer": "fused optimizer step",
        "eight_bit_optimizer": "8-bit optimizer states",
        "fused_loss": "fused loss, no logits kept",
        "half_batch": "half the batch, twice the steps",
        "lora": "LoRA instead of all weights",
        "quantised_base": "4-bit base (QLoRA)",
        "zero_1": "ZeRO stage 1",
        "zero_2": "ZeRO stage 2",
        "zero_3": "ZeRO stage 3 or FSDP",
        "offload_optimizer": "optimizer states in host memory",
        "one_more_gpu": "one more GPU, layers dealt over all",
        "one_more_gpu_sharded": "one more GPU, everything sharded over all (ZeRO stage 3 or FSDP)",
        "eight_bit_weights": "8-bit weights",
        "four_bit_weights": "4-bit weights",
        "eight_bit_cache": "8-bit key-value cache",
        "components_in_turn": "one component on the GPU at a time, the others in host memory",
        "layers_in_turn": "one layer on the GPU at a time, the others in host memory",
        "tensor_parallel": "tensor parallel over two GPUs",
        "fewer_gpu_layers": "fewer layers on the GPU",
        "experts_in_ram": "experts of some layers in RAM",
    }
)
STEPS = Words(
    {
        "weights": "weights",
        "gradients": "gradients",
        "optimizer": "optimizer states",
        "activations": "activations",
        "kv_cache": "key-value cache",
        "recurrent_state": "recurrent state",
        "communication": "communication buffers",
        "buffers": "dequantised matrix and copies",
        "tensors": "live tensors",
        "fragmentation": "fragmentation",
        "library": "library workspaces",
        "reserved": "reserved",
        "context": "driver and kernels",
        "device": "nvidia-smi shows",
        "interval": "80 % interval",
        "pool": "pool of the cache",
        "per_user": "cache of one user",
        "users": "users",
        "nvme_states": "states on drives",
        "host_paged_states": "paged states in host memory",
        "host_offloaded_states": "states in host memory",
        "host_offloaded_weights": "weights in host memory",
        "host_offloaded_shards": "shards in host memory",
        "host_swap_buffers": "buffers of the drives in host memory",
        "host_gradients_in_ram": "gradients in host memory",
        "host_parameters_in_ram": "parameters in host memory",
        "host_components": "components in host memory",
        "host_layers": "layers in host memory",
        "host_weights": "weights in host memory",
    }
)
REACHED = Words({
    "batch": "Largest batch: {value} ({sure} with the whole interval).",
    "context": "Longest context: {value} tokens ({sure} with the whole interval).",
    "users": "Most users at once: {value} ({sure} with the whole interval).",
})  # fmt: skip
BASES = Words({
    "pool": "The pool of {pool} holds contexts of {tokens} tokens at {each} per user.",
    "slots": "Every user has a slot of {tokens} tokens, {each} of cache.",
    "batch": "Users run as one batch of {tokens} tokens each, {each} of cache.",
})  # fmt: skip


def change_text(code: str) -> str:
    """A change, or several joined by "+", in words."""
    return " + ".join(CHANGES.get(one, one) for one in code.split("+"))


def step_title(name: str) -> str:
    """What a step of a calculation is called."""
    return STEPS.get(name, tr(name))


def memory_lines(answer: dict[str, Any]) -> list[str]:
    """The answer of one case as lines of text."""
    if "error" in answer:
        return [tr("{id}: not answered: {error}", id=answer["id"], error=answer["error"])]
    if "best" in answer:
        return list(_best(answer))
    return [
        *_head(answer),
        *_parts(answer),
        *_figures(answer),
        *_beside(answer),
        *_cards(answer),
        *_reached(answer),
        *_changes(answer),
        *_partitions(answer),
        *_steps(answer),
    ]


def _best(answer: dict[str, Any]) -> Iterator[str]:
    """The ways to run a model, one a line."""
    yield tr("{id}: what the machine holds, with {stack}", id=answer["id"], stack=answer["stack"])
    if not answer["best"]:
        yield tr("No format fits: neither the GPUs nor the memory of the computer hold it.")
    several = len({way["stack"] for way in answer["best"]}) > 1
    for way in answer["best"]:
        rate = way.get("rate") or {}
        speed = rate_text(rate.get("value"), rate.get("low"), rate.get("high"), rate.get("metric"))
        mark = "*" if way["best"] else " "
        beside = f"  {way['stack']}" if several else ""
        yield f"{mark} {way['precision']:8} {place_text(**_place(way)):44} {speed}{beside}"


def rate_text(
    value: float | None, low: float | None, high: float | None, metric: str | None
) -> str:
    """Return a speed in its metric with its interval."""
    if value is None or low is None or high is None or metric is None:
        return tr("speed not known")
    middle = quantity(value, metric)
    return tr("{value} ({low} to {high})", value=middle, low=number(low), high=number(high))


def _place(way: dict[str, Any]) -> dict[str, Any]:
    names = ("cards", "device_gib", "host_gib", "gpu_layers", "n_cpu_moe")
    return {name: way.get(name) for name in names}


def place_text(
    cards: int,
    device_gib: float,
    host_gib: float,
    gpu_layers: int | None,
    n_cpu_moe: int | None,
) -> str:
    """Return where a way puts the model, with GiB of the cards together and of RAM."""
    device, host = _gib(device_gib), _gib(host_gib)
    if not cards:
        return tr("all in RAM, {host}", host=host)
    if n_cpu_moe is not None and gpu_layers is None:
        return tr(
            "experts of {layers} layers in RAM: {device} + {host}",
            layers=n_cpu_moe,
            device=device,
            host=host,
        )
    if gpu_layers is not None:
        return tr(
            "{layers} layers on the GPU: {device} + {host}",
            layers=gpu_layers,
            device=device,
            host=host,
        )
    return (
        tr("on one GPU, {device}", device=device)
        if cards == 1
        else tr("on {cards} GPUs, {device}", cards=cards, device=device)
    )


MEASURED_WORDS = Words(
    {
        "several sources": "Such jobs were measured by several sources.",
        "one source": "Such jobs were measured by one source.",
        "never measured": "No measurement of such jobs is known: the interval is wider.",
    }
)
"""How many sources have measured the memory of such jobs."""


def verdict(low: float, high: float, room: float | None) -> str:
    """Whether an interval fits, in words."""
    if room is None:
        return tr("unknown")
    return tr("fits") if high <= room else tr("does not fit") if low > room else tr("tight")


def _head(answer: dict[str, Any]) -> Iterator[str]:
    if not answer["device_gib"] and answer["host_gib"]:
        yield tr(
            "{id}: {need} of RAM, no GPU, stack {stack}",
            id=answer["id"],
            need=_gib(answer["host_gib"]),
            stack=answer["stack"],
        )
        return
    yield tr(
        "{id}: {need} per GPU ({low} to {high}), stack {stack}",
        id=answer["id"],
        need=_gib(answer["device_gib"]),
        low=number(answer["low_gib"], 1),
        high=number(answer["high_gib"], 1),
        stack=answer["stack"],
    )
    if "gpu" in answer:
        word = verdict(answer["low_gib"], answer["high_gib"], answer["capacity_gib"])
        yield tr(
            "On {count} × {gpu} with {room}: {verdict}.",
            count=answer["count"],
            gpu=answer["gpu"],
            room=_gib(answer["capacity_gib"]),
            verdict=word,
        )


def _parts(answer: dict[str, Any]) -> Iterator[str]:
    yield ""
    for name, gib in answer["parts_gib"].items():
        if gib > 0:
            yield f"  {PARTS[name]:36}{number(gib, 2):>10}"
        if name == "activations":
            for kind, part in answer.get("activation_kinds_gib", {}).items():
                yield f"    {KINDS.get(kind, kind):34}{number(part, 2):>10}"
        for detail in INNER.get(name, ()):
            if answer["detail_gib"].get(detail, 0) > 0:
                yield f"    {DETAILS[detail]:34}{number(answer['detail_gib'][detail], 2):>10}"


def _figures(answer: dict[str, Any]) -> Iterator[str]:
    if not answer["device_gib"]:
        return
    yield ""
    for field, word in FIGURES.items():
        yield f"  {word:36}{number(answer[field], 2):>10}"


def _beside(answer: dict[str, Any]) -> Iterator[str]:
    if answer["host_gib"]:
        yield tr("Host memory for what is offloaded: {need}.", need=_gib(answer["host_gib"]))
    if "host_fits" in answer:
        room = _gib(answer["host_capacity_gib"])
        yield (
            tr("The computer has {room}: fits.", room=room)
            if answer["host_fits"]
            else tr("The computer has {room}: does not fit.", room=room)
        )
    if "raise" in answer:
        to_gib = answer["raise_to_gib"]
        setting = (
            f"sudo sysctl iogpu.wired_limit_mb={to_gib * 1024}"
            if answer["raise"] == "iogpu.wired_limit_mb"
            else f"ttm.pages_limit={to_gib * 262144} ttm.page_pool_size={to_gib * 262144}"
        )
        yield tr(
            "The system gives the GPU {usual} of the shared memory; raise it with: {setting}",
            usual=_gib(answer["usual_limit_gib"]),
            setting=setting,
        )
    if "placed" in answer:
        yield from _placed(answer["placed"])
    if answer["nvme_gib"]:
        yield tr("Drive space for what is offloaded: {need}.", need=_gib(answer["nvme_gib"]))
    if answer.get("evidence"):
        yield MEASURED_WORDS[answer["evidence"]]
    for field, value in answer["assumed"].items():
        if field == "architecture":
            yield tr(
                "Its architecture is not known: it is counted as {relative}, with a wider"
                " interval.",
                relative=value,
            )
            continue
        if field == "experts":
            yield tr(
                "Its experts are counted in {value}, at the upper end in 16 bits: transformers"
                " since 5 has them where bitsandbytes does not quantise them. Name the release in"
                " framework_text.",
                value=value,
            )
            continue
        yield tr("Assumed: {field} = {value}.", field=field, value=value)


def _placed(placed: dict[str, Any]) -> Iterator[str]:
    """What the engine leaves in RAM by itself."""
    if "n_cpu_moe" in placed:
        yield tr(
            "The engine leaves the experts of the first {layers} layers in RAM by itself.",
            layers=placed["n_cpu_moe"],
        )
    if "gpu_layers" in placed:
        yield tr("The engine keeps {layers} layers on the GPU.", layers=placed["gpu_layers"])
    yield tr(
        "That takes {device} of the GPU and {host} of RAM.",
        device=_gib(placed["device_gib"]),
        host=_gib(placed["host_gib"]),
    )


def _cards(answer: dict[str, Any]) -> Iterator[str]:
    for number_, card in enumerate(answer.get("cards", ()), 1):
        word = verdict(card["low_gib"], card["high_gib"], card["room_gib"])
        yield tr(
            "GPU {number}, {gpu}: {share} of the layers, {need} of {room}: {verdict}.",
            number=number_,
            gpu=card["gpu"],
            share=f"{100 * card['share']:.0f} %",
            need=_gib(card["device_gib"]),
            room=_gib(card["room_gib"]),
            verdict=word,
        )
    if "cards" in answer:
        yield tr(
            "All cards: {need} of {room}.",
            need=_gib(answer["total_gib"]),
            room=_gib(answer["total_room_gib"]),
        )
        if answer["overflows"]:
            names = ", ".join(str(at + 1) for at in answer["overflows"])
            yield tr("Overflowing: GPU {numbers}.", numbers=names)


def _reached(answer: dict[str, Any]) -> Iterator[str]:
    for one in answer.get("largest", ()):
        yield tr(REACHED[one["what"]], value=number(one["value"], 0), sure=number(one["sure"], 0))
        if one.get("positions") and one["value"] > one["positions"]:
            yield "  " + tr(
                "The network was made for {tokens} tokens.", tokens=number(one["positions"], 0)
            )
        if one["users"]:
            users = one["users"]
            yield "  " + tr(
                BASES[users["basis"]],
                pool=_gib(users["pool_gib"]),
                tokens=number(users["tokens"], 0),
                each=_gib(users["per_user_gib"]),
            )


def _changes(answer: dict[str, Any]) -> Iterator[str]:
    if "changes" in answer and not answer["changes"]:
        yield tr("No change that we know makes it smaller.")
    for change in answer.get("changes", ()):
        yield tr(
            "{change}: {need}, {verdict}, {share} of the speed ({source})",
            change=_change_of(change),
            need=_gib(change["device_gib"]),
            verdict=tr("fits") if change["fits"] else tr("does not fit yet"),
            share=f"{100 * change['speed_share']:.0f} %",
            source=change["source"],
        )
    if answer.get("ways"):
        yield tr("What makes it fit (all, with sources: --changes):")
        yield from way_lines(answer["ways"])


def way_lines(ways: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the changes that make a job fit, each with what it needs and costs."""
    for change in ways:
        yield "  " + tr(
            "{change}: {need}, {share} of the speed",
            change=_change_of(change),
            need=_gib(change["device_gib"]),
            share=f"{100 * change['speed_share']:.0f} %",
        )


def _change_of(change: dict[str, Any]) -> str:
    sharded = change["fields"].get("parallelism", {}).get("zero") == 3
    code: str = change["code"]
    return change_text(code.replace("one_more_gpu", "one_more_gpu_sharded") if sharded else code)


def _partitions(answer: dict[str, Any]) -> Iterator[str]:
    for part in answer.get("partitions", ()):
        word = (
            tr("fits")
            if part["fits"]
            else tr("tight")
            if part["fits"] is None
            else tr("does not fit")
        )
        room = (
            _gib(part["memory_gib"])
            if part["listed"]
            else tr("about {room}", room=_gib(part["memory_gib"]))
        )
        yield tr(
            "MIG {name}: {room}, {count} on a card, {compute} of the multiprocessors: {verdict}.",
            name=part["name"],
            room=room,
            count=part["count"],
            compute=f"{100 * part['compute_share']:.0f} %",
            verdict=word,
        )


def _steps(answer: dict[str, Any]) -> Iterator[str]:
    for step in answer.get("steps", ()):
        inputs = ", ".join(
            f"{name} {value}" for name, value in step["inputs"].items() if value is not None
        )
        source = f" [{step['source']}]" if step["source"] else ""
        yield (
            f"  {step_title(step['name'])} = {step['formula']} ({inputs}) ="
            f" {number(step['value'], 3)} {step['unit']}{source}"
        )


def _gib(value: float | None) -> str:
    return quantity(value, "GiB", 2 if value is not None and value < 10 else 1)


def compared_lines(answer: dict[str, Any]) -> list[str]:
    """A measurement beside the estimate, where they were compared."""
    lines = []
    if "measured" in answer:
        measured = answer["measured"]
        lines.append(
            tr(
                "Measured with PyTorch {version}: {peak} at the peak, {params} million parameters.",
                version=measured["torch"],
                peak=_gib(measured["peak_bytes"] / 2**30),
                params=number(measured["params"] / 1e6, 1),
            )
        )
    if "compared" in answer:
        one = answer["compared"]
        lines.append(
            tr(
                "Estimated: {estimate}, {error} off.",
                estimate=_gib(one["estimated_gib"]),
                error=f"{100 * one['error']:+.2f} %",
            )
        )
    return lines
