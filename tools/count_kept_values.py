"""Count what image networks of timm keep for their backward pass: reads names and sizes, writes one
JSON line each.

    python -m venv torch && torch/bin/pip install timm
    printf 'resnet50 224\\n' | torch/bin/python tools/count_kept_values.py

The network's own code runs on PyTorch's meta device (shapes without data), and every tensor that
autograd saves is counted once per storage, in single precision and with the casts of CUDA's
autocast (PyTorch, Automatic Mixed Precision package, op reference: matrix products and convolutions
in 16 bits; norms, softmax, exponentials and sums in float). The growth from two images to four is
what one image keeps; parameters and their casts do not grow. It is counted twice: with attention
that writes its scores, as timm did before 0.9, and with fused attention, which keeps query, key,
value, result and a sum per row. The lines feed catalog/architectures/kept_values.json."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

import timm  # type: ignore[import-not-found]
import torch  # type: ignore[import-not-found]
from torch.overrides import TorchFunctionMode  # type: ignore[import-not-found]

IN_16_BITS = (
    "__matmul__",
    "__rmatmul__",
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bmm",
    "chain_matmul",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "einsum",
    "gru",
    "gru_cell",
    "linear",
    "lstm",
    "lstm_cell",
    "matmul",
    "mm",
    "multi_dot",
    "mv",
    "prelu",
    "rnn_relu",
    "rnn_tanh",
    "scaled_dot_product_attention",
)
IN_FLOAT = (
    "__pow__",
    "__rdiv__",
    "__rpow__",
    "acos",
    "asin",
    "cosh",
    "cosine_similarity",
    "cross_entropy",
    "cumprod",
    "cumsum",
    "dist",
    "erfinv",
    "exp",
    "expm1",
    "group_norm",
    "layer_norm",
    "linalg_vector_norm",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_softmax",
    "mse_loss",
    "nll_loss",
    "norm",
    "pow",
    "prod",
    "reciprocal",
    "rsqrt",
    "sinh",
    "softmax",
    "softmin",
    "softplus",
    "sum",
    "tan",
)


class Autocast(TorchFunctionMode):  # type: ignore[misc]
    """The casts of CUDA's autocast, which the meta device has none of; a parameter is cast once."""

    def __init__(self) -> None:
        super().__init__()
        self.copies: dict[int, Any] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run `func` on its arguments in the width that autocast gives it."""
        name = getattr(func, "__name__", "")
        kwargs = kwargs or {}
        if name in IN_16_BITS or name in IN_FLOAT:
            width = torch.float16 if name in IN_16_BITS else torch.float32
            args = tuple(self.cast(value, width) for value in args)
            kwargs = {key: self.cast(value, width) for key, value in kwargs.items()}
        return func(*args, **kwargs)

    def cast(self, value: Any, width: Any) -> Any:
        """Return a tensor in the width, a sequence with its tensors in it, anything else as it
        is."""
        if isinstance(value, (tuple, list)):
            return type(value)(self.cast(each, width) for each in value)
        if (
            not isinstance(value, torch.Tensor)
            or value.dtype not in (torch.float16, torch.float32)
            or value.dtype == width
        ):
            return value
        if not isinstance(value, torch.nn.Parameter):
            return value.to(width)
        if id(value) not in self.copies:
            self.copies[id(value)] = value.to(width)
        return self.copies[id(value)]


class Fused(torch.autograd.Function):  # type: ignore[misc]
    """Attention by a fused kernel: what it keeps, and nothing of what it does between."""

    @staticmethod
    def forward(ctx: Any, query: Any, key: Any, value: Any, mask: Any) -> Any:
        """Return a result of the right size; keep it, what it was made of, and the sums of the rows
        in float."""
        result = torch.empty(
            *query.shape[:-1], value.shape[-1], dtype=query.dtype, device=query.device
        )
        sums = torch.empty(query.shape[:-1], dtype=torch.float32, device=query.device)
        ctx.save_for_backward(query, key, value, result, sums, *(() if mask is None else (mask,)))
        return result


def fused_attention(query: Any, key: Any, value: Any, attn_mask: Any = None, **_: Any) -> Any:
    """Stand in for torch's scaled_dot_product_attention, which has no fused kernel on the meta
    device."""
    return Fused.apply(query, key, value, attn_mask)


def saved_bytes(model: Any, edge: int, images: int, mixed: bool) -> int:
    """Bytes of the storages that autograd saves in one forward pass, each once."""
    storages: dict[int, Any] = {}

    def save(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        storages[storage._cdata] = storage
        return tensor

    with (
        torch.autograd.graph.saved_tensors_hooks(save, lambda tensor: tensor),
        Autocast() if mixed else contextlib.nullcontext(),
    ):
        answer = model(torch.empty(images, 3, edge, edge, device="meta"))
    total: int = sum(storage.nbytes() for storage in storages.values())
    del answer
    return total


def built(name: str, edge: int, fused: bool) -> Any:
    """Return the network on the meta device, for images of `edge` pixels where it takes a size."""
    timm.layers.set_fused_attn(fused)
    try:
        model = timm.create_model(name, img_size=edge)
    except TypeError:
        model = timm.create_model(name)
    return model.to("meta").train()


def counted(name: str, edge: int) -> dict[str, object]:
    """Millions of bytes that one image of `edge` pixels keeps, in mixed and in single precision,
    with written and fused scores."""
    kept: dict[str, object] = {}
    for way in ("", "fused_"):
        model = built(name, edge, bool(way))
        for width, mixed in (("mixed_mb", True), ("single_mb", False)):
            kept[way + width] = (
                saved_bytes(model, edge, 4, mixed) - saved_bytes(model, edge, 2, mixed)
            ) / 2e6
    return {"name": name, "image_size": edge} | kept


def main() -> None:
    """Answer line for line."""
    for change in [
        name for name in dir(torch.nn.init) if name.endswith("_") and not name.startswith("_")
    ]:
        setattr(torch.nn.init, change, lambda tensor, *_, **__: tensor)
    torch.nn.functional.scaled_dot_product_attention = fused_attention
    line_of_rates = torch.linspace
    torch.linspace = lambda *values, **named: line_of_rates(*values, **named | {"device": "cpu"})
    for line in sys.stdin:
        name, edge = line.split()
        try:
            told = counted(name, int(edge))
        except Exception as fault:  # a network that refuses a size must not end the list
            told = {
                "name": name,
                "image_size": int(edge),
                "fault": f"{type(fault).__name__}: {fault}"[:200],
            }
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
