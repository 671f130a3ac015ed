"""A job script for clusters with a queue, and the container that serves the GPUs in it."""

from typing import Literal

from rigplanner.machine.topology.interconnect import nodes_of
from rigplanner.report.quote.setup_sheet import image_for
from rigplanner.rules.assess import Assessment

Queue = Literal["slurm", "pbs"]
QUEUES: tuple[Queue, ...] = ("slurm", "pbs")
HOURS = 24
"""Wall time that the script asks for; whoever submits it writes his own."""
PORT = 29500


def job_script(assessment: Assessment, queue: Queue) -> str:
    """Return a script that asks for as many equal nodes and GPUs as the rig has and starts one
    container on each with its GPUs; what the job itself is stands in $COMMAND. Rigs without a GPU
    ask for none; where no image is known to serve the GPUs, the container is left out."""
    machine = assessment.machine
    found = nodes_of(machine, tuple(range(len(machine.gpus))))
    nodes = max(1, len(found))
    gpus = max((len(group) for group in found.values()), default=len(machine.gpus))
    cores = sum(node.cpu.cores or 0 for node in machine.cpus) // nodes
    image = image_for([node.gpu for node in machine.gpus])
    lines = ["#!/bin/bash", *_asked(queue, nodes, gpus, cores), "", "set -eu"]
    if image is not None:
        lines += ["module load singularity 2>/dev/null || true", f"IMAGE=docker://{image}"]
    lines += ['COMMAND=${COMMAND:-"python train.py"}', ""]
    inside = "singularity exec --nv $IMAGE " if image is not None else ""
    start = f"{inside}{_torchrun(nodes, gpus)}"
    if queue == "slurm":
        if nodes > 1:
            lines.append('HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)')
        return "\n".join([*lines, f"srun --ntasks-per-node=1 {start}", ""])
    if nodes > 1:
        lines.append('HEAD=$(sort -u "$PBS_NODEFILE" | head -n 1)')
        start = f'pbsdsh -u -- bash -lc "cd $PBS_O_WORKDIR && {start}"'
    else:
        lines.append('cd "$PBS_O_WORKDIR"')
    return "\n".join([*lines, start, ""])


def _asked(queue: Queue, nodes: int, gpus: int, cores: int) -> list[str]:
    """The lines by which a queue is asked for nodes, GPUs, cores and time."""
    if queue == "slurm":
        return [
            f"#SBATCH --nodes={nodes}",
            *([f"#SBATCH --gres=gpu:{gpus}"] if gpus else []),
            *([f"#SBATCH --cpus-per-task={cores}"] if cores else []),
            f"#SBATCH --time={HOURS}:00:00",
        ]
    each = "".join((f":ncpus={cores}" if cores else "", f":ngpus={gpus}" if gpus else ""))
    return [f"#PBS -l select={nodes}{each}", f"#PBS -l walltime={HOURS}:00:00"]


def _torchrun(nodes: int, gpus: int) -> str:
    """What starts one process for each GPU of each node."""
    if nodes * gpus <= 1:
        return "$COMMAND"
    if nodes == 1:
        return f"torchrun --standalone --nproc-per-node={gpus} ${{COMMAND#python }}"
    meet = f"--rdzv-backend=c10d --rdzv-endpoint=$HEAD:{PORT}"
    return f"torchrun --nnodes={nodes} --nproc-per-node={gpus} {meet} ${{COMMAND#python }}"
