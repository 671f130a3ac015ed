"""The job script of a rig for the queue of a cluster."""

import subprocess

import pytest
from msgspec.structs import replace

from rigplanner.catalog.load import Catalog
from rigplanner.report.quote.job_script import QUEUES, job_script
from rigplanner.rig.document import Item, Rig
from rigplanner.rules.assess import assess

NODE = (
    Item(uid="board", part="asus.rog-strix.z270e-gaming"),
    Item(uid="cpu", part="intel.core.i7-7700k"),
    Item(uid="gpu", part="nvidia.geforce.gtx-1080-ti", quantity=2),
)


def nodes(count: int) -> Rig:
    """So many equal computers of two GPUs."""
    return Rig(items=tuple(replace(item, quantity=item.quantity * count) for item in NODE))


def test_one_node_asks_for_its_gpus_and_names_the_container(catalog: Catalog) -> None:
    script = job_script(assess(nodes(1), catalog), "slurm")
    assert "#SBATCH --nodes=1\n#SBATCH --gres=gpu:2\n#SBATCH --cpus-per-task=4\n" in script
    assert "IMAGE=docker://nvcr.io/nvidia/pytorch:24.12-py3" in script
    assert "singularity exec --nv $IMAGE torchrun --standalone --nproc-per-node=2" in script


def test_several_nodes_meet_on_the_first(catalog: Catalog) -> None:
    slurm = job_script(assess(nodes(3), catalog), "slurm")
    assert "--nodes=3\n#SBATCH --gres=gpu:2\n" in slurm and "--nnodes=3 --nproc-per-node=2" in slurm
    assert "HEAD=$(scontrol" in slurm and "--rdzv-endpoint=$HEAD:29500" in slurm
    pbs = job_script(assess(nodes(3), catalog), "pbs")
    assert "#PBS -l select=3:ncpus=4:ngpus=2\n" in pbs and "pbsdsh -u" in pbs


def test_without_a_gpu_no_container_is_named(catalog: Catalog) -> None:
    script = job_script(assess(Rig(items=NODE[:2]), catalog), "slurm")
    assert "gres" not in script and "singularity" not in script and "srun" in script


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("count", [1, 2])
def test_a_shell_can_read_it(queue, count: int, catalog: Catalog) -> None:
    script = job_script(assess(nodes(count), catalog), queue)
    checked = subprocess.run(["bash", "-n"], input=script.encode(), capture_output=True)
    assert checked.returncode == 0, checked.stderr
