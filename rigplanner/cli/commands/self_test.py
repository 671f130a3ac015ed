"""`rigplanner self-test`: does this installation work?"""

import argparse
import platform
import time

from rigplanner import __version__
from rigplanner.cli.faults import FINDINGS, FINE
from rigplanner.data import sample_files

KEY = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
SIGNATURE = (
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555"
    "fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
)
"""Test 1 of RFC 8032, section 7.1: a public key, and its signature of nothing."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command takes no arguments."""


def run(args: argparse.Namespace) -> int:
    """Read the catalog and every language, judge every sample, write a quote in memory, check a
    signature; print what was done and how long."""
    started = time.perf_counter()
    try:
        lines = _steps()
    except Exception as fault:
        print(f"FAILED: {type(fault).__name__}: {fault}")
        return FINDINGS
    print(
        f"rigplanner {__version__}, Python {platform.python_version()}, {platform.system()}"
        f" {platform.machine()}"
    )
    for line in lines:
        print(line)
    print(f"ok in {time.perf_counter() - started:.1f} s")
    return FINE


def _steps() -> list[str]:
    from rigplanner.catalog.imports.editions import believed
    from rigplanner.catalog.load import shipped_catalog
    from rigplanner.report.language import LANGUAGES, use_language
    from rigplanner.report.quote.pdf import quote_pdf
    from rigplanner.rig.files import read_rig
    from rigplanner.rules.assess import assess

    catalog = shipped_catalog()
    lines = [f"catalog {catalog.version}: {len(catalog.parts)} parts"]
    samples = sample_files()
    if not samples:
        raise FileNotFoundError("no sample rigs in the installation")
    for path in samples:
        assessment = assess(read_rig(path), catalog)
        lines.append(
            f"{path.stem}: {len(assessment.machine.gpus)} GPUs, {assessment.report.verdict()}"
        )
    pages = quote_pdf(assessment, catalog)
    if not pages.startswith(b"%PDF-"):
        raise ValueError("the quote is not a PDF")
    lines.append(f"quote: {len(pages) / 1024:.0f} KiB")
    try:
        for code in LANGUAGES:
            use_language(code)
    finally:
        use_language("en")
    lines.append(f"languages: {', '.join(LANGUAGES)}")
    if not believed(b"", SIGNATURE, KEY):
        raise ValueError("signatures cannot be checked")
    return [*lines, "signatures: checked"]
