"""What people want a rig for, in words."""

from rigplanner.planning.aims import Purpose
from rigplanner.report.language import tr

PURPOSES: dict[Purpose, tuple[str, str]] = {
    "little-money": (
        "Small budget",
        "The best speed for the price, and its limits.",
    ),
    "kaggle": ("Kaggle competitions", "Fine-tune image and text models on one machine, overnight."),
    "vision": (
        "Computer vision research",
        "Train convolutional and transformer networks on images.",
    ),
    "language": ("Language models", "Fine-tune open models of 1 to 70 billion parameters."),
    "serve": (
        "Serve a model",
        "Answer requests with a model of up to 70 billion parameters.",
    ),
    "nlp": (
        "Research on text",
        "Fine-tune encoders of text again and again, and adapt language models.",
    ),
    "data": (
        "Image data larger than memory",
        "Train on more than 250 GB of images: drives and processor must keep up.",
    ),
    "trying": (
        "First steps",
        "The cheapest machine that runs a model at home, or an hour in the cloud.",
    ),
}
"""Purpose to what a person calls it and what it means."""

AIM_WORDS = {
    "train-resnet18": "Train ResNet-18 on images of 224 pixels",
    "train-resnet50": "Train ResNet-50 on images of 224 pixels",
    "train-yolov8x": "Train YOLOv8x on images of 640 pixels",
    "train-convnext-384": "Train ConvNeXt-B on images of 384 pixels",
    "train-swin-384": "Train Swin-L on images of 384 pixels",
    "images-sdxl": "Generate 1024 px images with SDXL",
    "chat-8b": "Chat with an 8B model (4-bit)",
    "tune-deberta-base": "Fine-tune DeBERTa-v3-base",
    "tune-deberta-large": "Fine-tune DeBERTa-v3-large",
    "qlora-3b": "Fine-tune a 3B model (QLoRA, 4-bit)",
    "qlora-8b": "Fine-tune an 8B model (QLoRA, 4-bit)",
    "lora-8b": "Fine-tune an 8B model (LoRA, 16-bit)",
    "train-bert-large": "Train BERT-large on texts of 512 tokens",
    "large-data-resnet50": "Train ResNet-50 on 300 GB of images",
    "large-data-convnext": "Train ConvNeXt-B on 300 GB of images of 384 pixels",
    "train-1b": "Train all weights of a model of 1 billion",
    "qlora-32b": "Fine-tune a 32B model (QLoRA, 4-bit)",
    "qlora-70b": "Fine-tune a 70B model (QLoRA, 4-bit)",
    "serve-8b": "Serve an 8B model (16-bit) to 8 people",
    "serve-32b-int4": "Serve a 32B model (4-bit) to 4 people",
    "serve-70b-int4": "Serve a 70B model, 4-bit, 4 users",
    "serve-70b-fp8": "Serve a 70B model (8-bit) to 4 people",
    "serve-70b-bf16": "Serve a 70B model (16-bit) to 4 people",
}


def purpose_title(purpose: Purpose) -> str:
    """Return what a person calls a purpose."""
    return tr(PURPOSES[purpose][0])


def purpose_note(purpose: Purpose) -> str:
    """Return one sentence on a purpose."""
    return tr(PURPOSES[purpose][1])


def aim_title(code: str) -> str:
    """Return an aim as a deed."""
    return tr(AIM_WORDS[code])
