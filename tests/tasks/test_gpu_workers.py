"""Worker processes of a GPU: what a study leaves open, and what it sets."""

import pytest

from decaf.plan.cluster import CudaWorkers, Machine
from decaf.plan.study import Study
from tasks import sizes

GIB = 2**30
DATA = {"adapter": "shapes3d", "sources": 4, "seed": 1}
BIG = Machine(cores=8, free_bytes=64 * GIB, gpu_count=1, gpu_bytes=80 * GIB, has_dask_cuda=True)
NETWORK = {"id": "net", "family": "net", "architecture": "torchvision:resnet18"}
NETWORK |= {"weights": "net.safetensors", "mean": [0.5] * 3, "std": [0.5] * 3, "input_size": 64}


def filled(cluster, machine, monkeypatch):
    monkeypatch.setattr(sizes, "read_machine", lambda: machine)
    study = Study(
        study="small",
        data=DATA,
        models=[NETWORK],
        score={"kind": "class_probability", "classes": 2},
        paths={"blend": {"kind": "blend"}},
        cluster=cluster,
    )
    return sizes.fill_cluster(study, study.pair_set())


@pytest.mark.parametrize(
    ("machine", "count"), [(BIG, 2), (BIG._replace(gpu_bytes=12 * GIB), 1)], ids=["80", "12"]
)
@pytest.mark.parametrize("cluster", [None, {"kind": "cuda"}], ids=["no cluster", "no number"])
def test_an_open_number_of_workers_follows_the_memory(cluster, machine, count, monkeypatch):
    study, reason = filled(cluster, machine, monkeypatch)
    assert study.cluster == CudaWorkers(kind="cuda", workers_per_gpu=count)
    assert reason


def test_a_number_that_is_set_stays(monkeypatch):
    study, reason = filled({"kind": "cuda", "workers_per_gpu": 3}, BIG, monkeypatch)
    assert (study.cluster.workers_per_gpu, reason) == (3, "")
