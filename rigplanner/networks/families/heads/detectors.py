"""Detectors on a feature pyramid on the tape: Faster and Mask R-CNN and RetinaNet as MMDetection
and detectron2 train them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rigplanner.networks.config.config import full_config
from rigplanner.networks.families.encoders.encoder import class_loss
from rigplanner.networks.families.heads.region_heads import (
    KeypointHead,
    LastStage,
    OneMask,
    StuffHead,
    stages_of,
)
from rigplanner.networks.families.vision.efficient import group_norm
from rigplanner.networks.families.vision.hrnet import HighPyramid, HighResolution
from rigplanner.networks.families.vision.pyramid import (
    Doubled,
    Pyramid,
    ResidualBackbone,
    Unit,
    activated,
    picture,
    picture_sides,
    relu_in_place,
)
from rigplanner.networks.families.vision.windows import WindowBackbone
from rigplanner.networks.tracer import ops
from rigplanner.networks.tracer.net import Net
from rigplanner.networks.tracer.tape import F32, I64, Grads, Tape, Tensor, like, new, record

WIDTH, HIDDEN = 256, 1024
"""Channels of the pyramid and units of the box head (Lin et al. 2017)."""
PROPOSALS, POSITIVE = 512, 128
"""Regions of an image that the box head trains on, and of them those of the mask head (base
configurations of both projects)."""
TESTED, DETECTED = 1000, 100
"""Regions that the box head sees without training, and those that remain for the mask head."""
BOXES = 93
"""Labelled objects of a crowded image; one of 200 images of COCO has more, and training meets it
within the first epoch."""
PAIR_VALUES = 8
"""Values that live for a pair of anchor and object while their overlap is computed: two corners,
their difference."""


def anchors_of(maps: Sequence[Tensor], per_place: int) -> int:
    """Anchors of one image."""
    return sum(x.shape[2] * x.shape[3] for x in maps) * per_place


def matched(net: Net, maps: Sequence[Tensor], per_place: int) -> None:
    """The overlaps of all anchors with the objects of one image, and the targets of the batch."""
    count = anchors_of(maps, per_place)
    pairs = new(net.tape, (BOXES, count, PAIR_VALUES), F32)
    del pairs


def pooled(tape: Tape, maps: Sequence[Tensor], regions: int, side: int) -> Tensor:
    """RoIAlign: keeps the regions alone; its gradient is written to maps of the levels' sizes."""
    shapes = [(x.shape, x.dtype) for x in maps]

    def pull(grad: Tensor) -> Grads:
        return [new(tape, shape, dtype) for shape, dtype in shapes]

    return record(tape, new(tape, (regions, maps[0].shape[1], side, side), F32), maps, pull)


def joined(tape: Tape, parts: Sequence[Tensor], width: int) -> Tensor:
    """Scores of all levels, each laid out by place, as rows of `width` values."""
    rows = [ops.copy(tape, x) for x in parts]
    rows = [x.view(x.shape[0], x.size // x.shape[0] // width, width) for x in rows]
    return ops.cat(tape, rows, 1)


class Grouped:
    """A convolution, group norm, ReLU in place."""

    def __init__(self, net: Net) -> None:
        self.net, self.conv = net, Unit(net, WIDTH, WIDTH, 3, bias=True, relu=False)
        self.sides = net.parameter(WIDTH), net.parameter(WIDTH)

    def __call__(self, x: Tensor) -> Tensor:
        return relu_in_place(self.net.tape, group_norm(self.net.tape, self.conv(x), *self.sides))


class Dense:
    """Predictions at every place of every level: a row of convolutions shared by the levels, then
    one that predicts."""

    def __init__(self, net: Net, convolutions: int, outputs: int, grouped: bool = False) -> None:
        self.layers: list[Any] = [
            Grouped(net) if grouped else Unit(net, WIDTH, WIDTH, 3, bias=True)
            for _ in range(convolutions)
        ]
        self.last = Unit(net, WIDTH, outputs, 3, bias=True, relu=False)

    def __call__(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return self.last(x)


def backbone_of(net: Net, config: dict[str, Any]) -> tuple[Any, list[int]]:
    """The backbone and the widths of its maps; norms of residual ones are evaluated, or frozen
    where the trainer does so."""
    part_config = full_config(config["backbone"])
    if part_config["model_type"] == "swin":
        made = WindowBackbone(net, part_config)
        return made, made.widths
    if part_config["model_type"] == "hrnet":
        branched = HighResolution(net, part_config, "trained")
        return branched, branched.widths
    residual = ResidualBackbone(net, part_config, "frozen" if net.setting.frozen_norms else "fixed")
    return residual, residual.widths


class BoxHead:
    """Two linear layers over pooled regions, the class and the box; `each_class` has a box of its
    own."""

    def __init__(self, net: Net, classes: int, each_class: bool, width: int = WIDTH) -> None:
        self.net = net
        self.first, self.second = (
            net.linear("fc1", width * 49, HIDDEN, True),
            net.linear("fc2", HIDDEN, HIDDEN, True),
        )
        self.names = net.linear("cls_score", HIDDEN, classes + 1, True)
        self.boxes = net.linear("bbox_pred", HIDDEN, 4 * (classes if each_class else 1), True)

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        tape = self.net.tape
        rows = x.view(x.shape[0], x.size // x.shape[0])
        hidden = ops.keeping_result(tape, self.second(ops.keeping_result(tape, self.first(rows))))
        return self.names(hidden), self.boxes(hidden)


class MaskHead:
    """Four convolutions over pooled regions, twice the size, one mask per class; its loss while it
    trains."""

    def __init__(self, net: Net, classes: int, width: int = WIDTH) -> None:
        self.net, self.layers = (
            net,
            [Unit(net, WIDTH if at else width, WIDTH, 3, bias=True) for at in range(4)],
        )
        self.doubled, self.scores = (
            Doubled(net, WIDTH, WIDTH),
            Unit(net, WIDTH, classes, 1, bias=True, relu=False),
        )

    def __call__(self, x: Tensor) -> Tensor:
        tape = self.net.tape
        for layer in self.layers:
            x = layer(x)
        scores = self.scores(activated(self.net, self.doubled(x)))
        if not self.net.setting.training:
            return scores
        if not self.net.setting.frozen_norms:
            drawn = new(tape, (POSITIVE, *picture_sides(self.net, 32)), F32)
            del drawn
        one = ops.cut(tape, scores, (scores.shape[0], *scores.shape[2:]))
        return ops.reduce_to(tape, ops.keeping_input(tape, ops.copy(tape, one)), ())


class RegionDetector:
    """Faster R-CNN (Ren et al. 2015) on a feature pyramid, with a mask head where `masks` says so
    (He et al. 2017)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.classes, self.masks = (
            net,
            config.get("num_labels") or 80,
            bool(config.get("masks")),
        )
        self.backbone, widths = backbone_of(net, config)
        joined_first = isinstance(self.backbone, HighResolution)
        self.pyramid: Any = (
            HighPyramid(net, widths, WIDTH)
            if joined_first
            else Pyramid(net, widths, WIDTH, 1, True)
        )
        self.proposing = Unit(net, WIDTH, WIDTH, 3, bias=True)
        self.scores, self.shifts = (
            Unit(net, WIDTH, width, 1, bias=True, relu=False) for width in (3, 12)
        )
        stages = 0 if config.get("proposals_only") else 3 if config.get("cascade") else 1
        self.heads = [BoxHead(net, self.classes, stages == 1) for _ in range(stages)]
        self.mask_heads = [MaskHead(net, self.classes) for _ in range(stages)] if self.masks else []
        self.points = KeypointHead(net, WIDTH) if config.get("keypoints") else None
        self.stuff = StuffHead(net, WIDTH) if config.get("stuff") else None

    def loss(self) -> Tensor:
        """The sum of all losses; without training, the scores."""
        net, tape, training = self.net, self.net.tape, self.net.setting.training
        image = picture(net, 32)
        maps = self.pyramid(self.backbone(image))
        losses = self._proposals(maps)
        each = net.setting.batch
        names: Tensor | None = None
        for at, head in enumerate(self.heads):
            found = pooled(tape, maps[:4], each * (PROPOSALS if training else TESTED), 7)
            names, boxes = head(found)
            del found
            losses += (
                [class_loss(net, names), ops.reduce_to(tape, ops.keeping_input(tape, boxes), ())]
                if training
                else []
            )
            if self.mask_heads:
                seen = pooled(tape, maps[:4], each * (POSITIVE if training else DETECTED), 14)
                losses += [self.mask_heads[at](seen)]
        if self.points is not None:
            losses.append(
                self.points(pooled(tape, maps[:4], each * (POSITIVE if training else DETECTED), 14))
            )
        if self.stuff is not None:
            losses.append(self.stuff(maps[:4], (image.shape[2], image.shape[3])))
        names = maps[0] if names is None else names
        del image
        total = losses[0] if losses else names
        for loss in losses[1:] if training else ():
            total = ops.add(tape, total, loss)
        return total

    def _proposals(self, maps: list[Tensor]) -> list[Tensor]:
        """The losses of the network that proposes regions."""
        net, tape = self.net, self.net.tape
        hidden = [self.proposing(x) for x in maps]
        scores = joined(tape, [self.scores(x) for x in hidden], 1)
        shifts = joined(tape, [self.shifts(x) for x in hidden], 4)
        if not net.setting.training:
            return []
        matched(net, maps, 3)
        picked = (
            ops.reduce_to(tape, ops.cut(tape, x, (net.setting.batch * 256, x.shape[2])), ())
            for x in (scores, shifts)
        )
        return list(picked)


class OneMapDetector:
    """Faster and Mask R-CNN on one map: its last stage over every region (`single_map` c4), or
    dilated before them (dc5)."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.classes = net, config.get("num_labels") or 80
        part_config, norm = (
            full_config(config["backbone"]),
            "frozen" if net.setting.frozen_norms else "fixed",
        )
        whole = config["single_map"] == "dc5"
        self.backbone, self.stage = (
            stages_of(net, part_config, norm, whole),
            None if whole else LastStage(net, part_config, norm),
        )
        width = self.backbone.widths[-1]
        self.proposing = Unit(net, width, width, 3, bias=True)
        self.scores, self.shifts = (
            Unit(net, width, count, 1, bias=True, relu=False) for count in (15, 60)
        )
        self.head = BoxHead(net, self.classes, True, width) if whole else None
        last = part_config["hidden_sizes"][-1]
        self.names = None if whole else net.linear("cls_score", last, self.classes + 1, True)
        self.boxes = None if whole else net.linear("bbox_pred", last, 4 * self.classes, True)
        self.mask: Any = None
        if config.get("masks"):
            self.mask = (
                MaskHead(net, self.classes, width) if whole else OneMask(net, last, self.classes)
            )

    def loss(self) -> Tensor:
        """The sum of all losses; without training, the class scores."""
        net, tape, training = self.net, self.net.tape, self.net.setting.training
        x = self.backbone(picture(net, 32))[-1]
        hidden = self.proposing(x)
        rows = [
            joined(tape, [layer(hidden)], width)
            for layer, width in ((self.scores, 1), (self.shifts, 4))
        ]
        if training:
            matched(net, [x], 15)
        picked = [
            ops.reduce_to(tape, ops.cut(tape, y, (net.setting.batch * 256, y.shape[2])), ())
            for y in rows
            if training
        ]
        found, seen = self._regions(x)
        losses: list[Tensor] = []
        if training:
            far = ops.reduce_to(tape, ops.keeping_input(tape, found[1]), ())
            losses = [*picked, class_loss(net, found[0]), far]
        if self.mask is not None:
            share = net.setting.batch * (POSITIVE if training else DETECTED)
            if self.stage is None or seen is None:
                part = pooled(tape, [x], share, 14)
            else:
                part = ops.cut(tape, seen, (share, *seen.shape[1:]))
            losses.append(self.mask(part))
        total = losses[0] if training else found[0]
        for loss in losses[1:] if training else ():
            total = ops.add(tape, total, loss)
        return total

    def _regions(self, x: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor | None]:
        """Classes and boxes of the regions, and what the last stage made of them."""
        net, tape = self.net, self.net.tape
        count = net.setting.batch * (PROPOSALS if net.setting.training else TESTED)
        if self.stage is None or self.names is None or self.boxes is None:
            assert self.head is not None
            return self.head(pooled(tape, [x], count, 7)), None
        seen = self.stage(pooled(tape, [x], count, 14))
        mean = ops.reduce_to(tape, seen, (count, seen.shape[1]))
        return (self.names(mean), self.boxes(mean)), seen


def region_detector(net: Net, config: dict[str, Any]) -> RegionDetector | OneMapDetector:
    """The detector by regions that a configuration tells."""
    return OneMapDetector(net, config) if config.get("single_map") else RegionDetector(net, config)


class DenseDetector:
    """RetinaNet (Lin et al. 2017): two rows of convolutions over five levels, nine anchors a place;
    FCOS and ATSS with one, group norms, and a centre beside each box; GFL with the distribution of
    four distances in `box_values`, FSAF and FoveaBox with one and no norms."""

    def __init__(self, net: Net, config: dict[str, Any]) -> None:
        self.net, self.classes, self.per_place = (
            net,
            config.get("num_labels") or 80,
            config.get("anchors") or 9,
        )
        self.backbone, widths = backbone_of(net, config)
        self.pyramid = Pyramid(
            net, widths[1:], WIDTH, 2, False, from_input=not config.get("group_norms")
        )
        grouped = bool(config.get("group_norms"))
        self.names = Dense(net, 4, self.per_place * self.classes, grouped)
        self.boxes = Dense(
            net, 4, self.per_place * (config.get("box_values") or (5 if grouped else 4)), grouped
        )

    def loss(self) -> Tensor:
        """The focal loss; without training, the scores."""
        net, tape = self.net, self.net.tape
        image = picture(net, 32)
        maps = self.pyramid(self.backbone(image)[1:])
        names: Tensor = joined(tape, [self.names(x) for x in maps], self.classes)
        boxes = joined(
            tape, [self.boxes(x) for x in maps], self.boxes.last.weight.shape[0] // self.per_place
        )
        del image
        if not net.setting.training:
            return names
        matched(net, maps, self.per_place)
        labels = new(tape, names.shape[:2], I64)
        del labels
        return ops.add(
            tape, self._focal(names), ops.reduce_to(tape, ops.keeping_input(tape, boxes), ())
        )

    def _focal(self, scores: Tensor) -> Tensor:
        """In one operator, or written out where the trainer freezes norms (detectron2)."""
        net, tape = self.net, self.net.tape
        scores = ops.cast(tape, scores, F32)
        if not net.setting.frozen_norms:
            return ops.reduce_to(tape, ops.keeping_input(tape, scores), ())
        return self._written_out(scores)

    def _written_out(self, scores: Tensor) -> Tensor:
        """fvcore.nn.sigmoid_focal_loss on the anchors that have labels, whose names are spread as
        whole numbers first."""
        tape = self.net.tape
        picked = ops.sub_self(tape, scores)
        del scores
        spread = new(tape, (*picked.shape[:2], self.classes + 1), I64)
        targets = new(tape, picked.shape, F32)
        del spread
        odds = ops.keeping_result(tape, picked)
        entropy = ops.keeping_input(tape, picked)
        others = ops.mul(tape, ops.sub_self(tape, odds), like(tape, targets))
        right = ops.add(tape, ops.mul(tape, odds, targets), others)
        del others
        weight = ops.square(tape, ops.sub_self(tape, right))
        weighed = ops.mul(tape, entropy, weight)
        return ops.reduce_to(tape, ops.mul(tape, like(tape, targets), weighed), ())
