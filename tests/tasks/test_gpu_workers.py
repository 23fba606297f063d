"""Worker processes of a GPU: what a study leaves open, and what it sets."""

import pytest

from decaf.plan.cluster import CudaWorkers, Machine
from decaf.plan.study import Study
from tasks import sizes

DATA = {"adapter": "shapes3d", "sources": 4, "seed": 1}
ONE_GPU = Machine(cores=8, free_bytes=2**36, gpu_count=1, has_dask_cuda=True)
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
    ("cluster", "count"),
    [(None, 1), ({"kind": "cuda"}, 1), ({"kind": "cuda", "workers_per_gpu": 3}, 3)],
    ids=["no cluster", "no number", "a number"],
)
def test_a_gpu_has_one_worker_unless_the_study_asks_for_more(cluster, count, monkeypatch):
    study, reason = filled(cluster, ONE_GPU, monkeypatch)
    assert study.cluster == CudaWorkers(kind="cuda", workers_per_gpu=count)
    assert bool(reason) == (cluster is None)
