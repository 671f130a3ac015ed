"""The law of hosts: what must hold whatever its constants, and its errors on measured rows."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from rigplanner.performance.host.constants import host_constants, host_rows
from rigplanner.performance.host.hosts import Host, core_dies
from rigplanner.performance.host.judge import Judged, held_out, judged_rows
from rigplanner.performance.host.law import CardRates, decoding_gbs, prompt_time, token_time
from rigplanner.performance.host.reads import Reads

HOST = Host(ram_gbs=96.0, cores=16, isa="avx512", pace=1.0)
CARD = CardRates(memory_gbs=936.0, tflops=71.0, link_gbs=25.0)
READS = Reads(
    host=3e9,
    card=2e9,
    streamed=0.0,
    host_layers=40,
    card_layers=40,
    experts=True,
    routed=True,
    looked_up=False,
    streams=1,
    held_gib=60.0,
    host_gflop=6.0,
    card_gflop=4.0,
)


def seconds(host: Host = HOST, reads: Reads = READS, stack: str = "llama.cpp") -> float:
    return token_time(reads, host, CARD, stack, host_constants()).total_s


def test_more_channels_more_bytes_and_more_sockets_go_the_right_way() -> None:
    assert seconds(replace(HOST, ram_gbs=192.0)) < seconds() < seconds(replace(HOST, ram_gbs=51.2))
    assert seconds(reads=replace(READS, host=6e9)) > seconds()
    assert seconds(reads=replace(READS, looked_up=True)) > seconds()
    two, known = replace(HOST, sockets=2), host_constants()
    assert (
        decoding_gbs(two, "llama.cpp", False, known)
        < decoding_gbs(two, "ik_llama.cpp", False, known)
        < decoding_gbs(HOST, "ik_llama.cpp", False, known)
    )


def test_one_die_does_not_draw_what_two_channels_give() -> None:
    known = host_constants()
    one = decoding_gbs(replace(HOST, dies=1), "llama.cpp", False, known)
    assert one < decoding_gbs(replace(HOST, dies=2), "llama.cpp", False, known)
    assert one < 62, "a 7800X3D with DDR5-6000 reads 60 to 62 GB/s (llama.cpp pull request 13435)"
    assert [core_dies("AMD Ryzen 9 9950X", 16), core_dies("Threadripper PRO 7975WX", 32)] == [2, 4]
    assert core_dies("AMD EPYC 9654", 96) is None


def test_what_ram_does_not_hold_comes_from_the_drive() -> None:
    short = seconds(replace(HOST, ram_gib=32.0, drive_gbs=7.0))
    assert short > 3 * seconds(replace(HOST, ram_gib=128.0, drive_gbs=7.0))
    assert seconds(replace(HOST, ram_gib=32.0, drive_gbs=3.0)) > short


def test_larger_pieces_of_a_prompt_bring_the_weights_fewer_times() -> None:
    known = host_constants()
    small = prompt_time(READS, 4096, 512, HOST, CARD, "llama.cpp", known)
    large = prompt_time(READS, 4096, 4096, HOST, CARD, "llama.cpp", known)
    assert small.streamed and small.link_s == pytest.approx(8 * large.link_s)
    few = prompt_time(READS, 8, 512, HOST, CARD, "llama.cpp", known)
    assert not few.streamed, "llama.cpp brings weights from 32 tokens on"
    alone = prompt_time(READS, 512, 512, HOST, None, "llama.cpp", known)
    assert alone.cpu_s > 0 and alone.card_s == alone.link_s == 0


@pytest.fixture(scope="module")
def rows() -> list[Judged]:
    return judged_rows()


def test_the_rows_are_many_and_every_source_has_a_day() -> None:
    shipped = host_rows()
    assert len(shipped.rows) >= 125 and len(shipped.sources) >= 40
    assert all(source.read and source.url for source in shipped.sources.values())


def test_a_streamed_prompt_is_told_within_a_fifth(rows: list[Judged]) -> None:
    """llama.cpp's own prompts with experts in RAM: every weight comes over PCIe for 512 tokens."""
    found = [
        item.prefill(host_constants()) / (item.row.prefill or 1)
        for item in rows
        if item.row.stack == "llama.cpp" and item.row.gpus and item.row.ubatch == 512
        if item.row.prefill and item.row.placement != "cpu"
    ]
    assert len(found) >= 6 and all(0.8 < one < 1.25 for one in found)


def test_decoding_is_told_with_the_source_held_out(rows: list[Judged]) -> None:
    """The goal: median at most 18 %, 90th percentile 50 %, and four of five answers within the
    interval; one answer for each setup that a source measured, at whatever contexts."""
    setups = held_out(rows, host_constants(), 6)
    offs = np.array(list(setups.values()))
    errors = np.abs(np.exp(offs) - 1)
    assert len(setups) >= 60
    assert np.median(errors) <= 0.18
    assert np.quantile(errors, 0.9) <= 0.50
    inside = np.mean(np.abs(offs) <= math.log(host_constants().spread))
    assert 0.75 <= inside <= 0.90
