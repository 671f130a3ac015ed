"""Pictures of the pages that teach: docs/pictures/memory-step.svg and docs/pictures/speed-step.svg.

python -m tools.page_pictures

The first is a training step of docs/how-memory-is-counted.md, byte by byte; the second a step of
docs/how-speed-is-predicted.md, by what takes its time. Tests recompute the pages' figures."""

from pathlib import Path

import msgspec

from rigplanner.catalog.gpus import find_gpu
from rigplanner.catalog.zoo import shipped_zoo
from rigplanner.memory.training_trace import setting_of
from rigplanner.networks.families.build import builder
from rigplanner.networks.tracer.step import trace_step
from rigplanner.networks.tracer.tape import CUDA
from rigplanner.performance.job import read_job as read_speed_job
from rigplanner.performance.serving import decode
from rigplanner.report.drawing.charts import bar, curve, document, line, text
from rigplanner.rig.workload import Workload
from rigplanner.units import GIB
from rigplanner.workload.job import read_job
from rigplanner.workload.network import resolve
from rigplanner.workload.stacks import memory_stack

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
TRAINED = Workload(
    model="gpt2",
    task="train_full",
    precision="amp_bf16",
    optimizer="adamw",
    batch_per_gpu=8,
    seq_len=1024,
    stack="pytorch",
)
"""The job of the memory page; its card is an RTX 3090."""
WRITTEN = Workload(
    model="llama-3.1-8b",
    task="decode",
    precision="fp16",
    stack="llama.cpp",
    batch_per_gpu=1,
    input_tokens=512,
    output_tokens=128,
)
"""The job of the speed page, on an RTX 3090."""
CARD = "RTX 3090"
LEFT, TOP, WIDTH, HEIGHT = 60, 34, 620, 260


def step_svg() -> str:
    """Return live bytes after each allocation of a training step as an SVG document."""
    network = resolve(TRAINED, shipped_zoo())
    job = read_job(TRAINED, network, 1, True)
    moments: list[tuple[int, int]] = []
    step = trace_step(
        builder(msgspec.json.decode(network.config or b"")),
        setting_of(job, False, memory_stack(job.stack)),
        precision="amp_bf16",
        semantics=CUDA,
        trace=moments,
    )
    live = [each / GIB for each, _ in moments]
    most = int(max(live)) + 1
    across, up = WIDTH / len(live), HEIGHT / most
    lines = [text(LEFT, 18, "GPT-2, 8 x 1,024 tokens: live GiB after each allocation", "ink")]
    for gib in range(0, most + 1, 2):
        y = TOP + HEIGHT - gib * up
        lines += [
            line(LEFT, y, LEFT + WIDTH, y, "grid"),
            text(LEFT - 6, y + 4, f"{gib}", "quiet", "end"),
        ]
    states = (step.weights + step.optimizer) / GIB
    y = TOP + HEIGHT - states * up
    lines += [
        line(LEFT, y, LEFT + WIDTH, y, "off"),
        text(LEFT + WIDTH, y - 5, "weights and states of the optimizer", "quiet", "end"),
    ]
    begins, turns = step.marks
    for at, words in ((begins, "forward"), (turns, "backward"), (len(live) - 1, "step")):
        lines += [
            line(LEFT + at * across, TOP, LEFT + at * across, TOP + HEIGHT, "off"),
            text(LEFT + at * across, TOP + HEIGHT + 16, words, "quiet", "middle"),
        ]
    points = [(LEFT + at * across, TOP + HEIGHT - gib * up) for at, gib in enumerate(live)]
    top = max(range(len(live)), key=live.__getitem__)
    lines += [
        curve(points),
        text(
            LEFT + top * across - 8,
            TOP + HEIGHT - live[top] * up + 4,
            f"peak {live[top]:.2f}",
            "ink",
            "end",
        ),
    ]
    return document(lines, LEFT + WIDTH + 30, TOP + HEIGHT + 30)


STREAMS = (1, 4, 16, 64, 128)


def speed_svg() -> str:
    """Return the milliseconds of one step by cause for several streams as an SVG document."""
    gpu, zoo = find_gpu(CARD), shipped_zoo()
    told = []
    for streams in STREAMS:
        work = msgspec.structs.replace(WRITTEN, batch_per_gpu=streams)
        told.append((streams, decode(read_speed_job(work, gpu, 1, 1, "none", zoo))))
    causes = ("reading weights and cache", "arithmetic", "kernels and launches")
    longest = max(each.traffic_s + each.matrix_s + each.other_s for _, each in told)
    scale = (WIDTH - 150) / longest
    lines = [text(16, 18, "Llama 3.1 8B in fp16 on an RTX 3090: milliseconds of a step", "ink")]
    for at, cause in enumerate(causes):
        lines += [bar(16 + 180 * at, 28, 10, 10, at), text(30 + 180 * at, 37, cause, "quiet")]
    for row, (streams, each) in enumerate(told):
        x, y = 110.0, 52 + 26 * row
        lines.append(
            text(102, y + 12, f"{streams} streams" if streams > 1 else "1 stream", "ink", "end")
        )
        for hue, seconds in enumerate((each.traffic_s, each.matrix_s, each.other_s)):
            lines.append(bar(x, y, seconds * scale, 16, hue))
            x += seconds * scale
        whole = 1e3 * (each.traffic_s + each.matrix_s + each.other_s)
        lines.append(text(x + 6, y + 12, f"{whole:.1f} ms, {each.tokens_s:.0f} tokens/s", "quiet"))
    return document(lines, LEFT + WIDTH + 30, 60 + 26 * len(told))


def main() -> None:
    """Write both pictures."""
    (PICTURES / "memory-step.svg").write_text(step_svg(), encoding="utf-8")
    (PICTURES / "speed-step.svg").write_text(speed_svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
