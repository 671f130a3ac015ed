"""Measure one step of a PyTorch model without a GPU: live tensor bytes under FakeTensorMode, no
data and no arithmetic.

A script of its own: it runs in the interpreter that has PyTorch, reads a request as JSON on
standard input and prints the answer as JSON. Nothing else of RigPlanner is imported, and RigPlanner
imports nothing of it."""

import contextlib
import functools
import importlib
import json
import runpy
import sys
import weakref
from typing import Any

HEADS = {
    "causal_lm": "AutoModelForCausalLM",
    "masked_lm": "AutoModelForMaskedLM",
    "image": "AutoModelForImageClassification",
    "seq2seq": "AutoModelForSeq2SeqLM",
}
LAPS = 2
"""Steps; the last one counts, as the first makes the optimizer's states."""


class LiveBytes:
    """Bytes of all storages that tensors were seen with and that are still there, and their
    peak."""

    def __init__(self) -> None:
        self.live = self.peak = 0
        self.held: dict[int, tuple[Any, int]] = {}

    def see(self, tensor: Any) -> None:
        """Count the storage of a tensor once."""
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self.held and self.held[key][0]() is not None:
            return
        size = storage.nbytes()
        self.held[key] = (weakref.ref(storage, functools.partial(self.forget, key)), size)
        self.live += size
        self.peak = max(self.peak, self.live)

    def forget(self, key: int, _: Any = None) -> None:
        """Take a storage away that went."""
        entry = self.held.pop(key, None)
        if entry is not None:
            self.live -= entry[1]


def watching(torch: Any, count: LiveBytes) -> Any:
    """A dispatch mode that shows the result of every operator to `count`."""
    modes, tree = (
        importlib.import_module("torch.utils._python_dispatch"),
        importlib.import_module("torch.utils._pytree"),
    )

    class Watch(modes.TorchDispatchMode):  # type: ignore[misc, name-defined]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            made = func(*args, **(kwargs or {}))
            tree.tree_map_only(torch.Tensor, count.see, made)
            return made

    return Watch()


def model_of(torch: Any, asked: dict[str, Any], fake: Any) -> tuple[Any, Any]:
    """The network and a function that makes its inputs: from a script's `model()` and
    `batch(size)`, or from a configuration."""
    if asked.get("script"):
        names = runpy.run_path(asked["script"])
        if "model" not in names or "batch" not in names:
            raise ValueError("the script must define model() and batch(size)")
        return names["model"](), lambda: names["batch"](asked["batch_per_gpu"])
    return of_config(torch, asked)


def of_config(torch: Any, asked: dict[str, Any]) -> tuple[Any, Any]:
    """A network of transformers by its configuration."""
    hub = importlib.import_module("transformers")
    head = asked["head"]
    config = hub.AutoConfig.for_model(**asked["config"])
    dtype = torch.bfloat16 if asked["precision"] in ("bf16", "fp16") else torch.float32
    words = {"attn_implementation": asked["attention"]} if asked.get("attention") else {}
    with real_lines(torch):
        net = getattr(hub, HEADS[head]).from_config(config, dtype=dtype, **words)
    net.tie_weights()
    if asked.get("gradient_checkpointing"):
        net.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    if head == "causal_lm":
        net.config.use_cache = False
    size = asked["batch_per_gpu"]

    def batch() -> dict[str, Any]:
        if head == "image":
            side = asked["image_size"]
            return {
                "pixel_values": torch.randn(size, 3, side, side, dtype=dtype),
                "labels": torch.randint(0, 2, (size,)),
            }
        ids = torch.randint(0, 100, (size, asked["seq_len"]))
        return {"input_ids": ids, "labels": ids}

    return net, batch


@contextlib.contextmanager
def real_lines(torch: Any) -> Any:
    """Let torch.linspace make real numbers while a network is built: some read them out as rates of
    their layers."""
    fakes = importlib.import_module("torch._subclasses.fake_tensor")
    line = torch.linspace

    def real(*args: Any, **words: Any) -> Any:
        with fakes.unset_fake_temporarily():
            return line(*args, **{**words, "device": "cpu"})

    torch.linspace = real
    try:
        yield
    finally:
        torch.linspace = line


def optimizer_of(torch: Any, name: str, params: list[Any]) -> Any:
    """An optimizer by the words that a workload uses."""
    makers = {
        "adamw": lambda: torch.optim.AdamW(params, foreach=True),
        "adam": lambda: torch.optim.Adam(params, foreach=True),
        "adamw_fused": lambda: torch.optim.AdamW(params, fused=True),
        "sgd_momentum": lambda: torch.optim.SGD(params, lr=0.1, momentum=0.9, foreach=True),
        "sgd": lambda: torch.optim.SGD(params, lr=0.1, foreach=True),
    }
    if name not in makers:
        raise ValueError(f"optimizer: expected one of {', '.join(makers)}, found {name!r}")
    return makers[name]()


def loss_of(output: Any, torch: Any) -> Any:
    """The loss that a network returns, or the sum of what it returns."""
    if isinstance(output, torch.Tensor):
        return output.float().sum()
    if getattr(output, "loss", None) is not None:
        return output.loss
    if isinstance(output, dict):
        return sum(
            value.float().sum() for value in output.values() if isinstance(value, torch.Tensor)
        )
    return sum(value.float().sum() for value in output if isinstance(value, torch.Tensor))


def called(net: Any, inputs: Any) -> Any:
    """Call a network with a batch: a dict by name, a tuple by place."""
    if isinstance(inputs, dict):
        return net(**inputs)
    return net(*inputs) if isinstance(inputs, tuple | list) else net(inputs)


def measured(asked: dict[str, Any]) -> dict[str, Any]:
    """Bytes of one step: the peak, and weights, gradients and states at the end of the backward
    pass."""
    torch = importlib.import_module("torch")
    fakes = importlib.import_module("torch._subclasses.fake_tensor")
    with fakes.FakeTensorMode() as fake:
        net, batch = model_of(torch, asked, fake)
        if asked.get("script") and asked["precision"] in ("bf16", "fp16"):
            net = net.to(torch.bfloat16 if asked["precision"] == "bf16" else torch.float16)
        trained = [item for item in net.parameters() if item.requires_grad]
        amp = torch.autocast("cpu", torch.bfloat16, enabled=asked["precision"].startswith("amp"))
        count = LiveBytes()
        for item in (*net.parameters(), *net.buffers()):
            count.see(item)
        weights = count.live
        parts = {"weights": weights, "gradients": 0, "optimizer": 0}
        if asked["task"].startswith("train"):
            parts |= _trained(torch, asked, net, batch, trained, count, amp)
        else:
            net.eval()
            inputs = batch()
            if isinstance(inputs, dict):
                inputs.pop("labels", None)
            with watching(torch, count), torch.no_grad(), amp:
                called(net, inputs)
    values = sum(item.numel() for item in net.parameters())
    return {
        "peak_bytes": count.peak,
        **parts,
        "params": values,
        "trained": sum(item.numel() for item in trained),
        "torch": torch.__version__,
    }


def _trained(
    torch: Any,
    asked: dict[str, Any],
    net: Any,
    batch: Any,
    trained: list[Any],
    count: LiveBytes,
    amp: Any,
) -> dict[str, int]:
    net.train()
    step = optimizer_of(torch, asked["optimizer"], trained)
    gradients = 0
    with watching(torch, count):
        for lap in range(LAPS):
            if lap == LAPS - 1:
                count.peak = count.live
            with amp:
                loss = loss_of(called(net, batch()), torch)
            loss.backward()
            del loss
            gradients = sum(
                item.grad.untyped_storage().nbytes() for item in trained if item.grad is not None
            )
            step.step()
            step.zero_grad(set_to_none=True)
    states = [
        value
        for entry in step.state.values()
        for value in entry.values()
        if isinstance(value, torch.Tensor)
    ]
    return {
        "gradients": gradients,
        "optimizer": sum(value.untyped_storage().nbytes() for value in states),
    }


def main() -> None:
    """Answer one request; a fault becomes an answer with `error`."""
    asked = json.load(sys.stdin)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            answer = measured(asked)
    except ModuleNotFoundError as fault:
        answer = {
            "error": f"{fault.name} is not installed in {sys.executable}",
            "missing": fault.name,
        }
    except Exception as fault:
        answer = {"error": f"{type(fault).__name__}: {fault}"[:400]}
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
