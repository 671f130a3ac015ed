"""Networks that see a picture and write text, of two published halves: an image network and a
decoder of BART's kin that attends to what was seen (TrOCR, Donut)."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

import msgspec

from rigplanner.errors import WorkloadFault
from rigplanner.networks.config.config import full_config
from rigplanner.networks.families.encoders.bart import KIN, BartAlone, BartBlock
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.families.vision.hierarchical import Swin
from rigplanner.networks.families.vision.vision import Vit
from rigplanner.networks.tracer.net import Net, checkpointed
from rigplanner.networks.tracer.tape import F32, I64, Tensor, new

EYES: dict[str, type[Vit] | type[Swin]] = {
    "vit": Vit,
    "deit": Vit,
    "swin": Swin,
    "donut-swin": Swin,
}
MOST_EDGE = 65_536


class Writer(BartAlone):
    """A decoder alone whose layers attend to what was seen."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        super().__init__(net, {**config, "decoder_layers": 0})
        self.config = config
        self.decoder = [
            BartBlock(net, config, "decoder", self.kin.early)
            for _ in range(config["decoder_layers"])
        ]

    def scores(self, seen: Tensor) -> Tensor:
        """The scores of every next token."""
        setting, tape = self.net.setting, self.net.tape
        _ids = self.net.given(setting.batch, setting.length, dtype=I64)
        _ones = new(tape, (setting.batch, setting.length), F32)
        return self.head(self._stack(self.decoder, 1, self._mask(), seen))


class PictureWriter:
    """Both halves, and what brings the first to the width of the second; pictures that are not
    square count as squares of their area."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, told, writes = net, *(_half(config, side) for side in ("encoder", "decoder"))
        sides = (
            told["image_size"] if isinstance(told["image_size"], list) else [told["image_size"]] * 2
        )
        if len(sides) != 2 or not all(
            isinstance(side, int) and 0 < side <= MOST_EDGE for side in sides
        ):
            raise WorkloadFault(
                "config.encoder.image_size: expected one edge or two in pixels, found"
                f" {str(sides)[:60]}."
            )
        step = told["patch_size"]
        self.edge = max(step, round(sqrt(prod(sides)) / step) * step)
        self.writes, classes = net.setting, net.classes
        net.setting, net.classes = msgspec.structs.replace(net.setting, length=self.edge), 0
        square = {**told, "image_size": self.edge}
        self.sees: Vit | Swin = EYES[told["model_type"]](net, square)
        self.looks, net.setting, net.classes = net.setting, self.writes, classes
        width = (
            told["hidden_size"]
            if "embed_dim" not in told
            else told["embed_dim"] * 2 ** (len(told["depths"]) - 1)
        )
        if isinstance(self.sees, Vit):
            with net.unreached():
                net.linear("pooler", width, width, True)
        self.writer = Writer(net, writes)
        bridged = writes["d_model"] != width and not writes.get("cross_attention_hidden_size")
        self.bridge = (
            net.linear("enc_to_dec_proj", width, writes["d_model"], True) if bridged else None
        )

    def _seen(self) -> Tensor:
        net, sees = self.net, self.sees
        image = net.given(net.setting.batch, 3, self.edge, self.edge, dtype=net.setting.dtype)
        net.setting = self.looks
        if isinstance(sees, Swin):
            x = sees.stem(image)
            x = sees.stem_norm(x.view(x.shape[0], x.shape[2] * x.shape[3], x.shape[1]))
            x = sees.run_stages(x)
        else:
            x = embedded = sees.embed(image)
            for block in sees.blocks:
                x = checkpointed(net, block, x)
            del embedded
            x = sees.norm(x)
        net.setting = self.writes
        net.held.append(image)
        return x if self.bridge is None else self.bridge(x)

    def loss(self) -> Tensor:
        """The loss over all target tokens; without training, the scores."""
        scores = self.writer.scores(self._seen())
        return class_loss(self.net, scores) if self.net.setting.training else scores


def _half(config: dict[str, Any], side: str) -> dict[str, Any]:
    """One half with what transformers takes for fields that are left out; raises WorkloadFault for
    one that is not traced here."""
    told = config.get(side)
    kind = told.get("model_type") if isinstance(told, dict) else None
    known = EYES if side == "encoder" else KIN
    if not isinstance(told, dict) or kind not in known:
        raise WorkloadFault(
            f"config.{side}.model_type: expected one of {', '.join(sorted(known))}, found"
            f" {str(kind)[:60]!r}."
        )
    return full_config(told)
