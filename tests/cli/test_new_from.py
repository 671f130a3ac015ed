"""`rigplanner new` beyond parts: workloads, money and quote in words, another rig to begin with,
parts that were meant."""

from datetime import date
from pathlib import Path

import pytest

from rigplanner.cli.main import main
from rigplanner.data import data_path
from rigplanner.rig.document import Rig
from rigplanner.rig.files import read_rig
from rigplanner.rig.one_line import one_line


def made(path: Path, *words: str) -> Rig:
    assert main(["new", *words, "-o", str(path)]) == 0
    return read_rig(path)


def refused(capsys: pytest.CaptureFixture[str], path: Path, *words: str) -> str:
    capsys.readouterr()
    assert main(["new", *words, "-o", str(path)]) == 2
    assert not path.exists()
    return capsys.readouterr().err


def test_workloads_and_money_are_said_in_words(tmp_path: Path) -> None:
    rig = made(
        tmp_path / "one.rig",
        "2x RTX 3090",
        "AX1600i",
        "--workload",
        "llama-3.1-70b task=inference precision=q4_k_m",
        *(
            word
            for choice in (
                "currency=EUR",
                "energy=0.35",
                "hire=3.60USD",
                "tax=21",
                "tax:psu=12",
                "price:gpu=700",
                "discount=5",
                "customer=Ada Lovelace",
                "customer.address=1 Road",
                "valid=30",
            )
            for word in ("--set", choice)
        ),
    )
    assert [(work.model, work.task, work.precision) for work in rig.workloads] == [
        ("llama-3.1-70b", "inference", "q4_k_m")
    ]
    energy, hire, price = rig.site.energy_per_kwh, rig.site.hire_per_hour, rig.items[0].price
    assert energy and (energy.amount, energy.currency, energy.day) == (
        0.35,
        "EUR",
        date.today().isoformat(),
    )
    assert hire and (hire.amount, hire.currency) == (3.6, "USD")
    assert price and (price.amount, price.currency) == (700.0, "EUR")
    assert (rig.quote.tax_percent, rig.quote.discount_percent, rig.quote.valid_days) == (
        21.0,
        5.0,
        30,
    )
    assert [item.tax_percent for item in rig.items] == [None, 12.0]
    assert (rig.quote.customer.name, rig.quote.customer.address) == ("Ada Lovelace", "1 Road")


def test_a_rate_that_the_bank_does_not_publish_is_given(tmp_path: Path) -> None:
    rig = made(tmp_path / "tw.rig", "RTX 5090", "--set", "currency=TWD", "--set", "rate:USD=31.5")
    assert rig.exchange
    assert rig.exchange.rates["TWD"] == pytest.approx(31.5 * rig.exchange.rates["USD"])
    assert "1 USD = 31.5 TWD as given" in rig.exchange.source

    rig = made(tmp_path / "de.rig", "RTX 5090", "--set", "currency=EUR", "--set", "rate:TWD=0.03")
    assert rig.exchange and rig.exchange.rates["TWD"] == pytest.approx(1 / 0.03)


def test_a_country_brings_its_usual_outlet_and_what_was_said_stays(tmp_path: Path) -> None:
    site = made(tmp_path / "de.rig", "RTX 3090", "--set", "country=DE").site
    assert (site.volts, site.breaker_a) == (230.0, 16.0)
    site = made(tmp_path / "us.rig", "RTX 3090", "--set", "country=US", "--set", "volts=208").site
    assert (site.volts, site.breaker_a) == (208.0, None)


def test_a_rig_begins_with_another(tmp_path: Path) -> None:
    first = made(tmp_path / "one.rig", "2x RTX 3090", "--name", "Old", "--set", "tax=21")
    second = made(tmp_path / "two.rig", "AX1600i", "--from", str(tmp_path / "one.rig"))
    assert [item.uid for item in second.items] == ["gpu", "psu"] and second.items[0] == first.items[
        0
    ]
    assert (second.name, second.quote.tax_percent, second.exchange) == ("two", 21.0, first.exchange)
    again = made(tmp_path / "one.rig", "--from", str(tmp_path / "one.rig"), "--set", "discount=3")
    assert (again.name, again.quote.discount_percent) == ("Old", 3.0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("tax=120", "0 to 100"),
        ("tax:foo=2", "it has gpu"),
        ("price:gpu=abc", "'abc'"),
        ("customer.foo=2", "tax_id"),
        ("currency=EURO", "three letters"),
        ("date=2026", "YYYY-MM-DD"),
        ("valid=0", "1 to 3650"),
        ("rate:USD=x", "'x'"),
        ("rate:USD=1.1", "already"),
        ("budget=-3", "above 0"),
        ("tax-included=perhaps", "yes or no"),
        ("zorg=1", "hire-month"),
    ],
)
def test_a_setting_that_cannot_be_says_what_was_expected(
    given: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = refused(capsys, tmp_path / "no.rig", "RTX 3090", "--set", given)
    assert words in text


def test_a_part_without_a_match_names_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = refused(capsys, tmp_path / "no.rig", "MSI Z370 SLI PLUS", "Frobnicator", "RTX 3090")
    assert "'MSI Z370 SLI PLUS', the nearest are MSI Z370" in text and "'Frobnicator';" in text


def test_a_workload_whose_model_is_not_known_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "llama-3.1-8b" in refused(
        capsys, tmp_path / "no.rig", "RTX 3090", "--workload", "lama-3.1-8b task=serve"
    )
    assert "expected a model" in refused(
        capsys, tmp_path / "no.rig", "RTX 3090", "--workload", "task=serve"
    )


def test_settings_may_stand_between_the_parts(tmp_path: Path) -> None:
    rig = made(
        tmp_path / "uk.rig", "--set", "country=UK", "RTX 3090", "--set", "hours=8", "AX1600i"
    )
    assert (rig.site.country, rig.site.volts, rig.site.hours_per_day) == ("GB", 230.0, 8.0)
    assert len(rig.items) == 2


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--set", "nccl=abc"], "nccl: expected a version"),
        (["--set", "driver=newest"], "driver: expected a version"),
        (["--workload", "resnet50 variant.built_on=GTX-1O80"], "GeForce GTX 1080"),
    ],
)
def test_words_that_name_no_version_or_card_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: list[str], told: str
) -> None:
    file = tmp_path / "a.rig"
    assert main(["new", "GTX 1080", *given, "-o", str(file)]) == 2
    assert told in capsys.readouterr().err and not file.exists()
    assert (
        main(["new", "GTX 1080", "--set", "nccl=v2.3.7", "--set", "os=linux", "-o", str(file)]) == 0
    )


def test_a_list_of_several_lines_is_read_line_by_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.rig"
    words = "AMD Ryzen 9 5900X\n\nEVGA RTX 3090 FTW3 Ultra\nNoctua NH-D15\n"
    assert main(["new", words, "-o", str(path)]) == 0
    made = read_rig(path)
    assert [item.part.split(".")[0] for item in made.items] == ["amd", "evga", "noctua"]
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_a_line_that_was_shared_is_the_same_rig_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = data_path("resources/samples") / "dual-rtx-3090.rig"
    shared = one_line(read_rig(sample))
    assert one_line(made(tmp_path / "again.rig", shared)) == shared
    assert "no.such.part" in refused(
        capsys, tmp_path / "no.rig", "RigPlanner: nvidia.geforce.rtx-3090 + no.such.part"
    )


def test_a_pasted_list_is_read_as_the_window_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines help each other, and what has no part is said and kept."""
    text = "Ryzen 5 5600\nMSI B550-A Pro\n2x 8 GB DDR4 3600\nFrobnicator 9\nRTX 3060 12GB"
    rig = made(tmp_path / "list.rig", text)
    told = capsys.readouterr()
    assert "NO MATCH  <- Frobnicator 9" in told.err and "Frobnicator 9" in rig.notes
    assert "stands for it: the same figures" in told.out
    kit = next(item for item in rig.items if "ddr4" in item.part)
    assert kit.quantity == 1
    assert len(rig.items) == 4
    assert "no line of the list" in refused(capsys, tmp_path / "none.rig", "Frob\nnicator")


def test_commas_make_a_list_and_nothing_of_it_is_dropped_in_silence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rig = made(tmp_path / "line.rig", "2x RTX 3090, Ryzen 9 7950X, Frobnicator 9, 1tb ram")
    told = capsys.readouterr().err
    assert [item.part.split(".")[0] for item in rig.items] == ["nvidia", "amd"]
    for lost in ("Frobnicator 9", "1tb ram"):
        assert f"NO MATCH  <- {lost} " in told and lost in rig.notes


def test_marks_alone_are_no_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "expected parts in words" in refused(capsys, tmp_path / "none.rig", "+", "+")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("2x rtx 3090 ryzen 9 5950x", ["rtx-3090", "5950x"]),
        ("4x 3090 epyc 7532 romed8-2t", ["rtx-3090", "7532", "romed8-2t"]),
        ("RTX3090 5950X ROMED8-2T", ["rtx-3090", "5950x", "romed8-2t"]),
        ("3090 + 5950x", ["rtx-3090", "5950x"]),
        ("3090, 5950x, 64gb ddr4", ["rtx-3090", "5950x", "ct2k32"]),
        ("H100 H100", ["h100", "h100"]),
        ("mac studio m3 ultra 512gb", ["m3-ultra-512"]),
    ],
)
def test_words_that_nobody_quoted_name_whole_parts(
    words: str, parts: list[str], tmp_path: Path
) -> None:
    rig = made(tmp_path / "bare.rig", *words.split())
    assert len(rig.items) == len(parts)
    assert all(part in item.part for part, item in zip(parts, rig.items, strict=True)), rig.items


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("DGX Spark", "nvidia.dgx.dgx-spark"),
        ("Jetson AGX Orin 64GB", "nvidia.jetson.agx-orin-64gb-developer-kit"),
        ("RTX 4070 Laptop", "nvidia.geforce.rtx-4070-laptop"),
    ],
)
def test_a_soldered_chip_is_bought_as_the_machine_of_its_own_maker(
    tmp_path: Path, words: str, part: str
) -> None:
    assert [item.part for item in made(tmp_path / "a.rig", words).items] == [part]
