"""Networks that see a picture and write text, of two published halves: an image network and a
decoder of BART's family that attends to what was seen (TrOCR, Donut)."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

import msgspec

from rigplanner.errors import WorkloadFault
from rigplanner.networks.config.config import full_config
from rigplanner.networks.families.encoders.bart import BART_VARIANTS, BartAlone, BartBlock
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
            BartBlock(net, config, "decoder", self.variant.early)
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
        self.net, part_config, writes = (
            net,
            *(_half(config, side) for side in ("encoder", "decoder")),
        )
        sides = (
            part_config["image_size"]
            if isinstance(part_config["image_size"], list)
            else [part_config["image_size"]] * 2
        )
        if len(sides) != 2 or not all(
            isinstance(side, int) and 0 < side <= MOST_EDGE for side in sides
        ):
            raise WorkloadFault(
                "config.encoder.image_size: expected one edge or two in pixels, found"
                f" {str(sides)[:60]}."
            )
        step = part_config["patch_size"]
        self.edge = max(step, round(sqrt(prod(sides)) / step) * step)
        self.writes, classes = net.setting, net.classes
        net.setting, net.classes = msgspec.structs.replace(net.setting, length=self.edge), 0
        square = {**part_config, "image_size": self.edge}
        self.sees: Vit | Swin = EYES[part_config["model_type"]](net, square)
        self.looks, net.setting, net.classes = net.setting, self.writes, classes
        width = (
            part_config["hidden_size"]
            if "embed_dim" not in part_config
            else part_config["embed_dim"] * 2 ** (len(part_config["depths"]) - 1)
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
    part_config = config.get(side)
    kind = part_config.get("model_type") if isinstance(part_config, dict) else None
    known = EYES if side == "encoder" else BART_VARIANTS
    if not isinstance(part_config, dict) or kind not in known:
        raise WorkloadFault(
            f"config.{side}.model_type: expected one of {', '.join(sorted(known))}, found"
            f" {str(kind)[:60]!r}."
        )
    return full_config(part_config)
