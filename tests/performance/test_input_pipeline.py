"""The classic figures of feeding GPUs, and which stage binds."""

import math

import msgspec
import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog, shipped_catalog
from rigplanner.data import data_path
from rigplanner.errors import WorkloadFault
from rigplanner.machine.assemble import assemble
from rigplanner.performance.limits.host import epoch_of, feed_of, network_share
from rigplanner.performance.limits.input_pipeline import (
    DECODE_PER_CORE_S,
    DOUBTS,
    READ_BYTES,
    Dataset,
    Drives,
    fed_range,
    fed_rate,
    feed,
    storage_samples_s,
)
from rigplanner.rig.document import Item, Rig
from rigplanner.rig.files import read_rig
from rigplanner.rig.workload import Workload
from rigplanner.rules.assess import assess

SAMPLES = data_path("resources") / "samples"
HARD_DISK = Drives(random_reads_s=110, sequential_mbs=170)
SSD = Drives(random_reads_s=10_000, sequential_mbs=500)
ONE_TEBIBYTE_IN_BLOCKS = Dataset(samples=2**40 / READ_BYTES, bytes_total=2**40, packed=False)
IMAGENET_21K_PACKED = Dataset(samples=14_197_122, bytes_total=250e9, packed=True)


def _hours_to_read(drives: Drives) -> float:
    return ONE_TEBIBYTE_IN_BLOCKS.samples / storage_samples_s(ONE_TEBIBYTE_IN_BLOCKS, drives) / 3600


def test_one_tebibyte_of_scattered_reads_on_a_hard_disk_takes_677_hours() -> None:
    assert math.floor(_hours_to_read(HARD_DISK)) == 677


def test_the_same_on_an_ssd_takes_about_seven_hours() -> None:
    assert _hours_to_read(SSD) == pytest.approx(7, abs=0.6)


def test_packed_and_in_sequence_a_hard_disk_gives_the_published_rate() -> None:
    assert storage_samples_s(IMAGENET_21K_PACKED, HARD_DISK) >= 3000


def test_scattered_files_crawl_on_a_hard_disk() -> None:
    scattered = Dataset(samples=14_197_122, bytes_total=250e9, packed=False)
    assert storage_samples_s(scattered, HARD_DISK) < 55
    assert storage_samples_s(scattered, SSD) > 50 * storage_samples_s(scattered, HARD_DISK)


def test_a_photograph_takes_two_seeks_and_the_rest_in_sequence() -> None:
    files = Dataset(samples=1_281_167, bytes_total=147e9, packed=False)
    assert 40 < storage_samples_s(files, HARD_DISK) < 60, "29 seeks gave 3.8"
    twice = Dataset(samples=1_281_167, bytes_total=2 * 147e9, packed=False)
    assert storage_samples_s(twice, HARD_DISK) > 0.9 * storage_samples_s(files, HARD_DISK)


def test_a_mapped_set_is_read_page_by_page() -> None:
    images = Dataset(samples=1e7, bytes_total=2**40, packed=False, mapped=True)
    assert images.samples / storage_samples_s(images, HARD_DISK) / 3600 == pytest.approx(
        677, rel=0.04
    )


def test_striping_multiplies() -> None:
    pair = Drives(random_reads_s=110, sequential_mbs=170, count=2)
    assert storage_samples_s(IMAGENET_21K_PACKED, pair) == 2 * storage_samples_s(
        IMAGENET_21K_PACKED, HARD_DISK
    )


def test_storage_binds_until_the_set_fits_in_memory() -> None:
    small = Dataset(samples=1e6, bytes_total=100e9, packed=False)
    slow = feed(small, HARD_DISK, cores=32, ram_gib=64, bus_gbs=25)
    assert slow.bound == "storage" and not slow.cached
    cached = feed(small, HARD_DISK, cores=32, ram_gib=256, bus_gbs=25)
    assert cached.cached and cached.storage_s is None and cached.bound == "cpu"
    assert cached.together_s == cached.decode_s


def test_tokens_need_no_decoding() -> None:
    tokens = Dataset(samples=1e9, bytes_total=4e9, packed=True, decoded_mb=4e-6, decoded_by="none")
    assert feed(tokens, SSD, cores=4, ram_gib=None, bus_gbs=None).decode_s is None


def test_nothing_known_binds_nothing() -> None:
    found = feed(IMAGENET_21K_PACKED, None, None, None, None)
    assert found.bound == "unknown" and math.isinf(found.together_s)


def test_plenty_of_feed_leaves_the_speed_alone_and_shortage_sets_it() -> None:
    assert fed_rate(1000, math.inf) == 1000
    assert fed_rate(1000, 10_000) == pytest.approx(1000, rel=0.001)
    assert fed_rate(10_000, 1000) == pytest.approx(1000, rel=0.001)
    assert fed_rate(1000, 1000) < 1000


def test_a_file_server_over_one_gigabit_starves_what_a_drive_feeds() -> None:
    made = assess(read_rig(SAMPLES / "titan-x-server.rig"), shipped_catalog())
    work = msgspec.structs.replace(
        made.jobs[0].workload,
        dataset_gb=150.0,
        dataset_samples=1_281_167,
        dataset_format="packed",
        dataset_decoding="gpu",
    )
    local, remote = (
        feed_of(msgspec.structs.replace(work, dataset_place=place), made.machine)
        for place in ("drives", "network")
    )
    assert local and remote and local.decode_s is None
    share = network_share(made.machine)
    assert remote.cached or remote.storage_s == pytest.approx(
        share.sequential_mbs * 1e6 / (150e9 / 1_281_167)
    )
    assert share.random_reads_s == 2000


@pytest.mark.parametrize(
    ("field", "word"), [("dataset_place", "moon"), ("dataset_decoding", "hand")]
)
def test_unknown_places_and_decoders_are_named(field: str, word: str) -> None:
    made = assess(read_rig(SAMPLES / "titan-x-server.rig"), shipped_catalog())
    work = msgspec.structs.replace(
        made.jobs[0].workload, dataset_gb=1.0, dataset_samples=10, **{field: word}
    )
    with pytest.raises(WorkloadFault, match=field):
        feed_of(work, made.machine)


def test_a_starved_speed_is_as_doubtful_as_what_starves_it() -> None:
    data = Dataset(samples=1e6, bytes_total=1e11, packed=True)
    starved = feed(data, None, 4, None, None)
    value, low, high = fed_range(starved, 20_000.0, 18_000.0, 22_000.0)
    assert starved.bound == "cpu"
    assert value == pytest.approx(4 * DECODE_PER_CORE_S, rel=0.01)
    assert high / low == pytest.approx(DOUBTS["cpu"] ** 2, rel=0.01)
    fed = feed(data, None, 4096, None, None)
    assert fed_range(fed, 2_000.0, 1_800.0, 2_200.0) == pytest.approx(
        (2_000.0, 1_800.0, 2_200.0), rel=0.01
    )


def test_an_epoch_is_told_as_it_lies_and_packed(catalog: Catalog) -> None:
    """A set of 1 TiB in pages of 4 KiB on a disk of 110 reads a second takes 678 h, in sequence
    at 150 MB/s 2 h."""
    items = (
        Item(uid="board", part="asus.rog-strix.z270e-gaming"),
        Item(uid="drive", part="western-digital.black.wd1003fzex"),
    )
    machine = assemble(Rig(items=items), catalog)
    work = Workload(dataset_gb=2**40 / 1e9, dataset_samples=2**28, dataset_format="mapped")
    epoch = epoch_of(work, machine)
    assert epoch is not None
    assert epoch.hours == pytest.approx(2**28 / 110 / 3600)
    assert epoch.packed_hours == pytest.approx(2**40 / 150e6 / 3600)
    packed = epoch_of(replace(work, dataset_format="packed"), machine)
    assert packed is not None and packed.hours == packed.packed_hours == epoch.packed_hours
    assert epoch_of(Workload(), machine) is None
    assert epoch_of(work, assemble(Rig(items=items[:1]), catalog)) is None
