"""Frameworks other than PyTorch: releases whose prebuilt packages do not serve a GPU."""

from collections.abc import Iterator

from rigplanner.catalog.schema.parts import GPU
from rigplanner.rules.core.context import Context
from rigplanner.rules.core.finding import Finding, Named
from rigplanner.rules.core.registry import rule
from rigplanner.rules.software.software import models, name_software
from rigplanner.rules.software.tables import Framework, between, framework_rows, version, within


class Framed(Named, frozen=True):
    """A GPU model and a package that the rig names with its release."""

    card: GPU
    package: str
    release: str


def framed(context: Context) -> Iterator[Framed]:
    """GPU models that CUDA serves or served, with each listed package that the rig names."""
    named = {
        package: release
        for package, release in context.rig.settings.software.items()
        if framework_rows(package)
    }
    if named:
        for case in models(context):
            yield from (
                Framed(case.name, case.card, package, release) for package, release in named.items()
            )


@rule(
    "SW020",
    "Framework build does not serve the GPU",
    "error",
    over=framed,
    needs=("card.compute_capability",),
    reason=(
        "Prebuilt packages leave old generations out and know none that came after them: TensorFlow"
        " dropped Kepler with 2.15 and Maxwell with 2.17, JAX Kepler with 0.4.4, RAPIDS Pascal with"
        " 24.02. Packages of kernels begin with a generation: mamba-ssm with Volta, nunchaku with"
        " Turing, SageAttention 2 with Ampere, DeepGEMM with Hopper, without desktop Blackwell."
        " TensorRT left Pascal out with 10.0 and Volta with 10.5, vLLM Volta with 0.20, SGLang"
        " Turing with 0.5."
    ),
    source=(
        "TensorFlow 2.17 release notes and issue 97387; JAX pull request 14411; RAPIDS support"
        " notice 34; bitsandbytes pull request 1806; state-spaces/mamba issue 40; ComfyUI-nunchaku"
        " issue 368; SageAttention issue 137; DeepGEMM issue 305; unsloth issue 1998;"
        " NVIDIA/TensorRT issue 3826; vLLM documentation, requirements; sgl-project/sglang issues"
        " 6006 and 24224"
    ),
)
def framework(context: Context, case: Framed) -> Iterator[Finding]:
    """Look the release up; one that is not listed is unknown, and of a name such as "8" the best of
    its releases counts."""
    rows, capability = framework_rows(case.package), case.card.compute_capability or ""
    meant = [row for row in rows if version(case.release) and _may_be(case.release, row)]
    if not meant:
        yield framework.unknown(case, f"software:{case.package} {case.release}")
    elif not any(between(capability, row.lowest, row.highest) for row in meant):
        row = meant[-1]
        old = version(capability) < version(row.lowest)
        other = _other(rows, capability)
        yield framework.finding(
            case,
            needed=row.lowest if old else row.highest,
            actual=capability,
            fixes=name_software(context, **{case.package: other}) if other else (),
            variant="" if old else "newer",
            package=NAMES.get(case.package, case.package),
            release=case.release,
        )


NAMES = {
    "tensorflow": "TensorFlow",
    "jax": "JAX",
    "rapids": "RAPIDS",
    "deep-gemm": "DeepGEMM",
    "sageattention": "SageAttention",
    "tensorrt": "TensorRT",
    "flashinfer": "FlashInfer",
    "sglang": "SGLang",
    "vllm": "vLLM",
    "ctranslate2": "CTranslate2",
    "onnxruntime-gpu": "ONNX Runtime",
}


def _may_be(release: str, row: Framework) -> bool:
    """Say whether a release, or one of those that a shorter name such as "8" stands for, lies in
    the row."""
    places = len(version(release))
    since = ".".join(map(str, version(row.since)[:places]))
    return within(release, since, row.until)


def _other(rows: tuple[Framework, ...], capability: str) -> str | None:
    """Return the last release that serves a compute capability, the first of a row that is still
    made."""
    serving = [row for row in rows if between(capability, row.lowest, row.highest)]
    return (serving[-1].until or serving[-1].since) if serving else None
