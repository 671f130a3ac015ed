"""`rigplanner self-test`: does this installation work?"""

import argparse
import platform
import time

from rigplanner import __version__
from rigplanner.cli.faults import FINDINGS, FINE
from rigplanner.data import sample_files


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command takes no arguments."""


def run(args: argparse.Namespace) -> int:
    """Read the catalog and every language, judge every sample, write a quote in memory; print what
    was done and how long."""
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
    return lines
