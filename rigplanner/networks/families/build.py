"""From a Hugging Face configuration to the network on the tape."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from rigplanner.errors import WorkloadFault
from rigplanner.networks.config.config import full_config, pick
from rigplanner.networks.config.relatives import traced_as
from rigplanner.networks.families.audio.speech import SoundEncoder
from rigplanner.networks.families.audio.wavlm import Wavlm
from rigplanner.networks.families.audio.whisper import Whisper, WhisperAlone
from rigplanner.networks.families.decoders.decoder import Decoder, Mlp
from rigplanner.networks.families.decoders.decoder_forms import decoder_form, expert_form
from rigplanner.networks.families.decoders.decoder_traits import ACTS
from rigplanner.networks.families.decoders.decoder_variants import (
    dbrx,
    gpt_neox_japanese,
    mimo,
    mllama,
    olmo_hybrid,
    phi4_multimodal,
)
from rigplanner.networks.families.decoders.family import is_decoder
from rigplanner.networks.families.decoders.gated_attention import afmoe, laguna
from rigplanner.networks.families.decoders.gemma3n import gemma3n
from rigplanner.networks.families.decoders.gemma4 import gemma4
from rigplanner.networks.families.decoders.hyper_connections import hy_v4
from rigplanner.networks.families.decoders.indexed_attention import axk2, indexed
from rigplanner.networks.families.decoders.llama4 import llama4
from rigplanner.networks.families.decoders.moe import Experts
from rigplanner.networks.families.decoders.traits import Form
from rigplanner.networks.families.decoders.zaya import zaya
from rigplanner.networks.families.diffusion.cogvideox import VideoTransformer
from rigplanner.networks.families.diffusion.hunyuan_video import HunyuanVideo
from rigplanner.networks.families.diffusion.joint_transformer import JointTransformer
from rigplanner.networks.families.diffusion.joint_variants import Flux2, QwenImage
from rigplanner.networks.families.diffusion.latent_unet import LatentUnet
from rigplanner.networks.families.diffusion.ltx import Ltx
from rigplanner.networks.families.diffusion.wan import Wan
from rigplanner.networks.families.encoders.bart import BART_VARIANTS, Bart, BartAlone, seamless
from rigplanner.networks.families.encoders.deberta import Deberta
from rigplanner.networks.families.encoders.encoder import (
    Encoder,
    EncoderBlock,
    EncoderForm,
    drawn_tables,
)
from rigplanner.networks.families.encoders.encoder_variants import BLOCKS, WHOLE, convbert_width
from rigplanner.networks.families.encoders.family import encoder_families
from rigplanner.networks.families.encoders.fsmt import Fsmt
from rigplanner.networks.families.encoders.led import Led
from rigplanner.networks.families.encoders.longt5 import LongT5
from rigplanner.networks.families.encoders.modernbert import ModernBert
from rigplanner.networks.families.encoders.pegasus_x import PegasusX
from rigplanner.networks.families.encoders.seq2seq import T5
from rigplanner.networks.families.encoders.sliding_window import windows
from rigplanner.networks.families.encoders.switch import Switch
from rigplanner.networks.families.encoders.t5gemma import T5Gemma
from rigplanner.networks.families.encoders.xlnet import Xlnet
from rigplanner.networks.families.heads.detectors import DenseDetector, region_detector
from rigplanner.networks.families.heads.detr import Detr
from rigplanner.networks.families.heads.sam import Sam
from rigplanner.networks.families.heads.segmenters import segmenter
from rigplanner.networks.families.multimodal.image_to_text import PictureWriter
from rigplanner.networks.families.multimodal.multimodal import Multimodal
from rigplanner.networks.families.state_space.hybrid import STATES
from rigplanner.networks.families.state_space.lightning import minimax
from rigplanner.networks.families.state_space.recurrent import RECURRENT
from rigplanner.networks.families.state_space.zamba import zamba2
from rigplanner.networks.families.vision import convnets
from rigplanner.networks.families.vision.bit import bit
from rigplanner.networks.families.vision.branched import TextNet, hgnet_v2
from rigplanner.networks.families.vision.clips import ClipClassifier
from rigplanner.networks.families.vision.composite import Composite, clip_edge
from rigplanner.networks.families.vision.cvt import Cvt
from rigplanner.networks.families.vision.efficient import efficientnet, poolformer
from rigplanner.networks.families.vision.focalnet import FocalNet
from rigplanner.networks.families.vision.hiera import Hiera
from rigplanner.networks.families.vision.hierarchical import Pvt2, Segformer, Swin
from rigplanner.networks.families.vision.mobilevit import MobileVit, MobileVit2
from rigplanner.networks.families.vision.pvt import Pvt
from rigplanner.networks.families.vision.swiftformer import SwiftFormer
from rigplanner.networks.families.vision.swinv2 import Swin2
from rigplanner.networks.families.vision.vision import Vit
from rigplanner.networks.image_tokens import sees
from rigplanner.networks.tracer.net import Net


def encoder_form(config: dict[str, Any], kind: str) -> EncoderForm:
    """The sizes of an encoder whose blocks are those of the family `kind`."""
    hidden = pick(config, "hidden_size", "dim")
    told = {
        "tied": bool(config.get("tie_word_embeddings", True)),
        **_family_fields(kind),
        **_encoder_head(config, kind),
        **_of_family(config, kind),
    }
    return EncoderForm(
        layers=pick(config, "num_hidden_layers", "n_layers"),
        hidden=hidden,
        heads=pick(config, "num_attention_heads", "n_heads", default=1),
        ffn=pick(config, "intermediate_size", "hidden_dim"),
        vocab=config["vocab_size"],
        embedding=pick(config, "embedding_size", "input_embedding_size", default=hidden),
        positions=0 if told.get("rotary") else config["max_position_embeddings"],
        token_types=0 if kind in ("esm", "mpnet") else config.get("type_vocab_size") or 0,
        dropout=pick(config, "hidden_dropout_prob", "dropout", default=0.0),
        attention_dropout=pick(
            config, "attention_probs_dropout_prob", "attention_dropout", default=0.0
        ),
        **told,
    )


def _family_fields(kind: str) -> dict[str, Any]:
    """What the record of a family says of its form."""
    told = dict(encoder_families()[kind])
    told.pop("head_of_config", None)
    return told | ({"names": tuple(told["names"])} if "names" in told else {})


def _encoder_head(config: dict[str, Any], kind: str) -> dict[str, Any]:
    """Activations of blocks and head, and the loss of one that writes."""
    told: dict[str, Any] = {}
    if kind != "esm":
        told["act"] = ACTS.get(pick(config, "hidden_act", "activation", default="gelu"), "gelu")
        told["head_act"] = told["act"] if encoder_families()[kind].get("head_of_config") else "gelu"
    if any(str(name).endswith("ForCausalLM") for name in config.get("architectures") or ()):
        told["float_loss"] = True
    return told


def _of_family(config: dict[str, Any], kind: str) -> dict[str, Any]:
    """What a family makes of fields of its own."""
    reader = ENCODER_FIELDS.get(kind)
    return reader(config) if reader else {}


def _esm(config: dict[str, Any]) -> dict[str, Any]:
    rotary = {"rotary": True} if config.get("position_embedding_type") == "rotary" else {}
    return {
        "token_dropout": bool(config.get("token_dropout")),
        "embedding_norm": bool(config.get("emb_layer_norm_before")),
        **rotary,
    }


def _luke(config: dict[str, Any]) -> dict[str, Any]:
    spare = not config.get("tie_word_embeddings", True)
    return {
        "entities": (config["entity_vocab_size"], config["entity_emb_size"]),
        "spare_entities": spare,
        "spare_bias": spare,
        "entity_aware": bool(config.get("use_entity_aware_attention", True)),
    }


ENCODER_FIELDS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "convbert": lambda config: {"inner": convbert_width(config)[1]},
    "esm": _esm,
    "layoutlm": lambda config: {"boxes": config["max_2d_position_embeddings"]},
    "longformer": lambda config: {"several": max(windows(config, config["num_hidden_layers"]))},
    "luke": _luke,
    "mpnet": lambda config: {"buckets": config["relative_attention_num_buckets"]},
    "rembert": lambda config: {"head_width": config["output_embedding_size"]},
    "roc_bert": lambda config: {"drawn": drawn_tables(config)},
    "roformer": lambda config: {"fixed_places": config["max_position_embeddings"]},
    "tapas": lambda config: {"more_types": tuple(config["type_vocab_sizes"])},
}
"""Encoders that read fields of their own."""


VISION: dict[str, Callable[[Net, dict[str, Any]], Any]] = {
    "resnet": convnets.resnet,
    "regnet": convnets.regnet,
    "convnext": convnets.convnext,
    "convnextv2": convnets.convnext,
    "mobilenet_v1": convnets.mobilenet_v1,
    "mobilenet_v2": convnets.mobilenet_v2,
    "vit": Vit,
    "deit": Vit,
    "beit": Vit,
    "dinov2": Vit,
    "dinov2_with_registers": Vit,
    "clip_vision_model": Vit,
    "siglip_vision_model": Vit,
    "ijepa": Vit,
    "swin": Swin,
    "donut-swin": Swin,
    "segformer": Segformer,
    "hiera": Hiera,
    "bit": bit,
    "swinv2": Swin2,
    "pvt": Pvt,
    "pvt_v2": Pvt2,
    "mobilevit": MobileVit,
    "cvt": Cvt,
    "efficientnet": efficientnet,
    "poolformer": poolformer,
    "focalnet": FocalNet,
    "swiftformer": SwiftFormer,
    "textnet": TextNet,
    "hgnet_v2": hgnet_v2,
    "mobilevitv2": MobileVit2,
    "sam": Sam,
    "rcnn": region_detector,
    "retinanet": DenseDetector,
    "detr": Detr,
    "dilated_segmenter": segmenter,
    "clip_resnet": ClipClassifier,
}
"""Networks that see: classifiers, detectors, segmenters, towers."""
TEXT: dict[str, Callable[[Net, dict[str, Any]], Any]] = {
    "t5": T5,
    "umt5": T5,
    "t5gemma": T5Gemma,
    **dict.fromkeys(BART_VARIANTS, Bart),
    "led": Led,
    "fsmt": Fsmt,
    "pegasus_x": PegasusX,
    "longt5": LongT5,
    "switch_transformers": Switch,
    "modernbert": ModernBert,
    "modernbert-decoder": ModernBert,
    "xlnet": Xlnet,
    "deberta-v2": Deberta,
    "deberta": Deberta,
}
"""Encoder-decoders, and encoders with blocks of their own."""
SOUND: dict[str, Callable[[Net, dict[str, Any]], Any]] = {
    "seamless_m4t": seamless,
    "seamless_m4t_v2": seamless,
    **dict.fromkeys(("wav2vec2", "hubert", "unispeech", "unispeech-sat"), SoundEncoder),
    "wavlm": Wavlm,
    "whisper": Whisper,
}
"""Networks that hear."""
DENOISERS: dict[str, Callable[[Net, dict[str, Any]], Any]] = {
    "unet_2d_condition": LatentUnet,
    "sd3_transformer": JointTransformer,
    "flux_transformer": JointTransformer,
    "qwen_image_transformer": QwenImage,
    "flux2_transformer": Flux2,
    "ltx_transformer": Ltx,
    "hunyuan_video_transformer": HunyuanVideo,
    "cogvideox_transformer": VideoTransformer,
    "wan_transformer": Wan,
}
"""Networks that make images and clips, step by step."""
NETWORKS = {**VISION, **TEXT, **SOUND, **DENOISERS}
"""All that are built from their whole configuration."""


DECODERS: dict[str, Callable[[dict[str, Any], Form], Callable[[Net], Decoder]]] = {
    "llama4_text": llama4,
    "gemma4_text": gemma4,
    "gemma3n_text": gemma3n,
    "deepseek_v32": indexed,
    "glm_moe_dsa": indexed,
    "axk2": axk2,
    "hy_v4": hy_v4,
    "dbrx": dbrx,
    "olmo_hybrid": olmo_hybrid,
    "zaya": zaya,
    "phi4_multimodal": phi4_multimodal,
    "mllama_text_model": mllama,
    "mimo_v2_flash": mimo,
    "gpt_neox_japanese": gpt_neox_japanese,
}
"""Decoders with layers of their own."""
GATED = {"afmoe": afmoe, "laguna": laguna}
"""Decoders of experts with a gate beside attention."""
OWN: dict[str, Callable[[dict[str, Any]], Callable[[Net], Any]]] = {
    **RECURRENT,
    "zamba2": zamba2,
    "minimax": minimax,
}
"""Decoders that make their layers themselves."""


def differs_headed(kind: str) -> bool:
    """Return whether a causal language model of this family differs from what it is otherwise."""
    return kind in encoder_families() or kind in BART_VARIANTS or kind == "whisper"


ALONE: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(BART_VARIANTS, BartAlone),
    "whisper": WhisperAlone,
}
"""Decoders of encoder-decoders that are causal language models by themselves where `architectures`
says so."""


def _classifier(kind: str, config: dict[str, Any], net: Net) -> Any:
    """A network of `kind`, its head as wide as the configuration says: by number, or by the names
    of the labels."""
    told = config.get("num_labels") or len(config.get("id2label") or ())
    net.classes = int(told) or net.classes
    return NETWORKS[kind](net, {**config, "model_type": kind, "written_as": config["model_type"]})


def _composed(config: dict[str, Any], net: Net) -> Composite:
    """A network of parts; the part that sees a clip sees it as one large image."""
    setting, seen = net.setting, full_config(config["seen"])
    net.setting = msgspec.structs.replace(setting, length=clip_edge(config, setting.length))
    part = _classifier(traced_as(seen["model_type"]), seen, net)
    made = Composite(net, config, part)
    if not config.get("clips"):
        net.setting = setting
    return made


def builder(config: dict[str, Any]) -> Callable[[Net], Any]:
    """Return what builds the network of a configuration on a tape. Raises WorkloadFault for an
    architecture that is not known."""
    if config.get("model_type") == "picture_composite":
        return partial(_composed, config)
    if config.get("model_type") == "vision-encoder-decoder":
        return lambda net: PictureWriter(net, config)
    if sees(config):
        return lambda net: (
            Multimodal(net, _text(config), config) if net.setting.images else _text(config)(net)
        )
    return _text(config)


def _text(config: dict[str, Any]) -> Callable[[Net], Any]:
    """A network of one part, or the part of a multimodal one that reads and writes text."""
    full = full_config(config)
    kind = traced_as(full["model_type"])
    if kind in ALONE and (
        kind == "trocr"
        or any(str(name).endswith("ForCausalLM") for name in full.get("architectures") or ())
    ):
        return partial(ALONE[kind], config=full)
    if kind in NETWORKS:
        return partial(_classifier, kind, full)
    if kind in encoder_families():
        encoder, make = (
            encoder_form(full, kind),
            (BLOCKS[kind](full) if kind in BLOCKS else EncoderBlock),
        )
        return lambda net: Encoder(net, encoder, make)
    if kind in WHOLE:
        return WHOLE[kind](full)
    if kind in OWN:
        return OWN[kind](full)
    if kind in STATES:
        return STATES[kind]({**full, "model_type": kind})
    if not is_decoder(kind):
        raise WorkloadFault(f"config.model_type: the architecture '{kind}' is not known.")
    form = decoder_form(full, kind)
    if kind in DECODERS:
        return DECODERS[kind](full, form)
    experts = expert_form(full)
    if kind in GATED and experts is not None:
        return GATED[kind](full, form, experts)
    if experts is None:
        return lambda net: Decoder(net, form)
    return lambda net: Decoder(
        net,
        form,
        lambda net, form, at: Mlp(net, form) if experts.dense(at) else Experts(net, form, experts),
    )
