"""The Python functions give the figures of the engine, and need no Qt."""

import doctest
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from rigplanner import api
from rigplanner.catalog.imports.user_catalog import full_catalog
from rigplanner.catalog.prices.exchange import shipped_rates
from rigplanner.cli.commands.best import wants_of
from rigplanner.data import sample_files
from rigplanner.planning.best.answer import best_rig
from rigplanner.planning.best.question import Question
from rigplanner.rig.document import Site
from rigplanner.rules.assess import assess

PAGE = Path(__file__).parents[1] / "docs" / "python.md"
TODAY = date(2026, 11, 23)


@pytest.mark.parametrize("path", sample_files(), ids=lambda path: path.stem)
def test_answers_are_those_of_the_engine(path):
    rig = api.load_rig(path)
    engine = assess(rig, full_catalog().catalog, TODAY.isoformat())
    found = api.check(rig, TODAY)
    assert found.verdict == engine.report.verdict()
    assert [one.code for one in found.findings] == [one.code for one in engine.report.findings]
    assert all(one.text and one.title for one in found.findings)
    needs = [need.device_gib for job in engine.jobs for need in job.memory]
    assert [one.device_gib for one in api.memory(rig) if not one.fault] == needs
    assert [(one.value, one.fault) for one in api.performance(rig)] == [
        (job.speed.value, "") if job.speed else (None, job.speed_fault or "") for job in engine.jobs
    ]


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    shutil.copy(next(one for one in sample_files() if one.stem == "dual-rtx-3090"), tmp_path)
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text("utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.tries >= 8
    assert runner.failures == 0
    assert (tmp_path / "quote.pdf").read_bytes().startswith(b"%PDF-")


def test_the_best_rig_is_that_of_the_engine():
    work = "llama-3.1-8b task=train_qlora batch_per_gpu=1"
    found = api.best([work], budget=2500, country="US", used=True, today=TODAY)
    site = Site(country="US", volts=120.0, breaker_a=15.0)
    rates = shipped_rates()
    question = Question(wants=wants_of([work]), budget=2500, site=site, used=True, rates=rates)
    engine = best_rig(question, full_catalog().catalog, TODAY.isoformat()).best
    assert engine is not None and found.rig is not None and found.proven and found.sound
    assert [item.part for item in found.rig.items] == [item.part for item in engine.rig.items]
    assert (found.price, found.speeds[0].value) == (engine.price, engine.score.speeds[0].value)
    nothing = api.best([work], budget=100, today=TODAY)
    assert nothing.rig is None and nothing.price is None and nothing.text


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"works": []}, "works"),
        ({"works": ["no such model"]}, "no such model"),
        ({"works": ["vision"], "budget": 0}, "budget"),
        ({"works": ["vision"], "objective": "prettiest"}, "prettiest"),
        ({"works": ["vision"], "currency": "XYZ"}, "XYZ"),
        ({"works": ["vision"], "country": "Atlantis"}, "(?i)atlantis"),
    ],
)
def test_what_cannot_be_asked_of_the_best_rig_is_named(asked, named):
    with pytest.raises(ValueError, match=named):
        api.best(**asked)


def test_a_file_that_is_no_rig_says_so(tmp_path):
    (tmp_path / "bad.rig").write_text("[]")
    with pytest.raises(api.RigFault, match=r"bad\.rig"):
        api.load_rig(tmp_path / "bad.rig")


def test_paper_that_is_none_is_named(tmp_path):
    with pytest.raises(ValueError, match="Letter"):
        api.quote(api.load_rig(sample_files()[0]), tmp_path / "quote.pdf", paper="A3")


@pytest.mark.usefixtures("warm_cache")
def test_functions_and_commands_run_where_qt_is_missing(tmp_path):
    rig, quote = sample_files()[0], tmp_path / "quote.pdf"
    code = f"""
import sys
class NoQt:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("PySide6", "shiboken6"):
            raise ImportError(name + " is not installed")
sys.meta_path.insert(0, NoQt())
from rigplanner import api
from rigplanner.cli.main import COMMANDS, declare_arguments, main
import argparse
rig = api.load_rig({str(rig)!r})
assert api.check(rig).findings and api.performance(rig) and api.memory(rig)
for name in COMMANDS:
    declare_arguments(name, argparse.ArgumentParser())
assert main(["quote", {str(rig)!r}, "-o", {str(quote)!r}]) == 0
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert quote.read_bytes().startswith(b"%PDF-")
