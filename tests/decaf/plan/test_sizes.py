"""How many sources a block has, and how many workers a machine gets, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decaf.plan.cluster import CudaWorkers, Demand, LocalWorkers, Machine, choose_cluster
from decaf.plan.sizes import MOST_STATES, Load, block_size

GIB = 2**30
TABLE = Load(source_count=100_000, states_per_source=50, bytes_per_source=800)
PHOTOS = Load(source_count=60, states_per_source=50, bytes_per_source=1.2e6)
LAPTOP = Machine(cores=8, free_bytes=16 * GIB, gpu_count=0, has_dask_cuda=False)
NETWORK = Demand(
    source_count=1000, model_count=1, model_bytes=50 * 2**20, is_slow=True, uses_gpu=True
)
FOREST = NETWORK._replace(is_slow=False, uses_gpu=False)


@pytest.mark.parametrize(
    ("load", "workers", "settings", "size"),
    [
        (TABLE, 1, {}, 10_000),  # 500,000 states
        (TABLE, 4, {}, 8334),  # 10 blocks become 12: three for each worker
        (TABLE, 2, {"seconds_per_row": 2e-4}, 1000),  # 1,000 sources x 50 x 0.2 ms are 10 s
        (TABLE, 2, {"can_stop": True}, 2000),  # 50 blocks
        (PHOTOS, 1, {}, 60),
        (PHOTOS, 2, {}, 30),
        (PHOTOS, 2, {"seconds_per_row": 0.0125}, 15),  # 16 in 10 s; 4 blocks, two a worker
        (PHOTOS, 1, {"seconds_per_row": 60.0}, 1),  # a row takes longer than a block may
        (PHOTOS, 100, {}, 1),
        (PHOTOS._replace(bytes_per_source=2**27), 1, {}, 2),  # 256 MiB of inputs
        (PHOTOS._replace(attribution_rows_per_source=950), 1, {"seconds_per_row": 0.001}, 10),
    ],
)
def test_blocks_follow_what_a_source_takes(load, workers, settings, size):
    assert block_size(load, workers, **settings) == size


@given(
    sources=st.integers(1, 10**6),
    states=st.floats(1, 1e7),
    workers=st.integers(1, 200),
    seconds=st.floats(0, 100),
)
def test_a_block_has_a_source_and_no_more_states_than_fit(sources, states, workers, seconds):
    size = block_size(Load(sources, states, 1.0), workers, seconds_per_row=seconds)
    assert 1 <= size <= sources
    assert size == 1 or size * states <= MOST_STATES
    assert size == 1 or size * states * seconds <= 10.0 * (1 + 1e-9)
    assert -(-sources // size) >= min(workers, sources) / 2


@pytest.mark.parametrize(
    ("machine", "demand", "workers", "threads"),
    [
        (LAPTOP, NETWORK, 8, 1),
        (LAPTOP, FOREST, 1, 1),  # 1,000 rows are no work for a second process
        (LAPTOP, FOREST._replace(source_count=10_000), 5, 1),
        (LAPTOP, FOREST._replace(model_count=16), 8, 1),
        # Few pairs of one large network: threads. 600 MiB + 3 x 1 GiB a worker; 12 pairs.
        (LAPTOP, NETWORK._replace(model_bytes=GIB), 4, 2),
        (LAPTOP, NETWORK._replace(source_count=12), 3, 2),
        (LAPTOP._replace(free_bytes=GIB // 2), NETWORK, 1, 8),
        (LAPTOP._replace(cores=1), NETWORK, 1, 1),
        (LAPTOP._replace(gpu_count=2), NETWORK, 1, 8),  # without the extra
        (LAPTOP._replace(gpu_count=2, has_dask_cuda=True), FOREST._replace(model_count=16), 8, 1),
    ],
)
def test_workers_and_threads_fill_the_cores(machine, demand, workers, threads):
    cluster, reason = choose_cluster(machine, demand)
    assert cluster == LocalWorkers(workers=workers, threads=threads)
    assert reason


def test_every_gpu_gets_a_worker():
    machine = LAPTOP._replace(gpu_count=2, has_dask_cuda=True)
    assert choose_cluster(machine, NETWORK) == (CudaWorkers(kind="cuda"), "2 GPUs")
