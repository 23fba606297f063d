"""Choose the sizes that a configuration leaves open: workers, blocks and batches.

Workers follow the machine (:func:`decaf.plan.cluster.choose_cluster`). The number of sources in a
block is that of the study's last run, so that a resumed run or a re-audit finds its units. If the
study has more than ten times as many pairs now, the number is chosen again. A first run chooses it
before scoring: from bytes, then, after the trial of the models, from the seconds of a row
(:func:`decaf.plan.sizes.block_size`). The run records the number in its configuration. Every trial
of a model chooses its batches; no key depends on them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.pairs import PairSet
from decaf.errors import DataError
from decaf.models.sources.estimator import EstimatorCard
from decaf.models.sources.network import NetworkCard
from decaf.plan.cluster import Cluster, Demand, LocalWorkers, choose_cluster
from decaf.plan.sizes import Load, block_size
from decaf.plan.study import Study
from decaf.reveal.path import RevealPath
from tasks.input_shape import sample
from tasks.machine import read_machine
from tasks.memory import FLOAT
from tasks.runs import read_newest_run
from warehouse.storage import Storage

GROWN = 10
"""Growth in pairs, as a factor, from which a study chooses its block size again."""


class Pace(NamedTuple):
    """Speed of a model in the batches that were chosen for it."""

    batch_size: int
    seconds_per_row: float
    """Seconds of a row, with all queries of a stochastic model."""
    is_reduced: bool
    """True if a larger batch did not fit the memory."""


@dataclass(frozen=True)
class ChosenSizes:
    """Reasons and measurements behind the sizes that were chosen for a plan."""

    why_workers: str
    """Reason of the choice of workers; empty if the configuration sets them."""
    can_shrink_blocks: bool
    """True if the trial of the models may still choose smaller blocks."""
    paces: Mapping[str, Pace] = field(default_factory=dict)
    """Speed of tried models."""

    def with_paces(self, paces: Mapping[str, Pace]) -> "ChosenSizes":
        """Copy with the result of a trial of models, which settles the blocks."""
        return replace(self, can_shrink_blocks=False, paces={**self.paces, **paces})


def fill_cluster(study: Study, pairs: PairSet) -> tuple[Study, str]:
    """Choose workers for the machine if the study has no `cluster:`.

    The choice is a number of workers and threads, or a worker for each GPU. Returns the study and
    the reason of the choice, which is empty if the study sets its workers.
    """
    if study.cluster is not None:
        return study, ""
    machine, models = read_machine(), study.models
    demand = Demand(
        source_count=len(pairs.pairs.sources.values),
        model_count=len(models),
        model_bytes=max(map(_file_bytes, models), default=0),
        is_slow=not models or not all(isinstance(card, EstimatorCard) for card in models),
        uses_gpu=study.device != "cpu"
        and (not models or any(isinstance(card, NetworkCard) for card in models)),
    )
    cluster, reason = choose_cluster(machine, demand)
    return study.model_copy(update={"cluster": cluster}), reason


def fill_block_size(study: Study, pairs: PairSet, store: Storage) -> tuple[Study, bool]:
    """Set the number of sources in a block if the study leaves it open.

    Returns the study, and whether the number is provisional: True if the study has no run yet, so
    that the trial of its models may choose a smaller number.
    """
    is_open = study.sources_per_block is None
    if is_open:
        recorded = _recorded_size(store, study.study, len(pairs.pairs))
        size = recorded or block_size(
            load_of(study, pairs), _worker_count(study.cluster), can_stop=study.stop is not None
        )
        study = study.model_copy(update={"sources_per_block": size})
        is_open = recorded is None
        study.check_span(pairs)
    return study, is_open


def _recorded_size(store: Storage, study: str, pair_count: int) -> int | None:
    """Block size of the last run; None without a run, or if that run had far fewer pairs."""
    run = read_newest_run(store, study)
    if run is None or (run.pair_count and pair_count > GROWN * run.pair_count):
        return None
    return run.config.get("sources_per_block")


def measured_block_size(
    study: Study, pairs: PairSet, paces: Mapping[str, Pace], worker_count: int
) -> int:
    """Number of sources in a block, from the seconds of a row of the slowest model.

    ``worker_count`` counts if the study does not set its workers. The number is never larger than
    the study's current one.
    """
    slowest = max((pace.seconds_per_row for pace in paces.values()), default=0.0)
    size = block_size(
        *(load_of(study, pairs), _worker_count(study.cluster, worker_count)),
        can_stop=study.stop is not None,
        seconds_per_row=slowest,
    )
    return min(size, study.sources_per_block or size)


def block_seconds(sources_per_block: int, load: Load, pace: Pace) -> float:
    """Approximate seconds of a model for the states of a block."""
    return min(sources_per_block, load.source_count) * load.states_per_source * pace.seconds_per_row


def load_of(study: Study, pairs: PairSet) -> Load:
    """Work of a study for each source; reads one input."""
    types, source_count = pairs.pairs.pair_types.counts(), len(pairs.pairs.sources.values)
    states = len(pairs.inputs) + sum(
        states_of_pair(path, study.grid)
        * sum(
            count
            for pair_type, count in types.items()
            if path.pair_types is None or pair_type in path.pair_types
        )
        for path in study.paths.values()
    )
    image_count = np.count_nonzero(np.bincount(pairs.pairs.plus))
    features = max(len(pairs.pairs) // image_count, 1)
    attributed = sum(sum(method.calls(features)) for method in study.attributions.values())
    return Load(
        source_count=source_count,
        states_per_source=states / source_count,
        bytes_per_source=_input_bytes(study, pairs) * len(pairs.inputs) / source_count,
        attribution_rows_per_source=attributed * image_count / source_count,
    )


def states_of_pair(path: RevealPath, default_grid: NDArray[np.float64]) -> int:
    """Number of states of a pair on a path, before equal states are merged.

    Without a common start, the path mixes the scores of four clean inputs.
    """
    if not path.has_common_start:
        return 4
    return 2 * path.repetitions * path.grid(default_grid).size


def _input_bytes(study: Study, pairs: PairSet) -> int:
    """Bytes of an input as models take it; of a largest one if shapes differ."""
    inputs = pairs.input_set
    try:
        stored = sample(study.data, study.workspace, inputs, inputs.extremes[-1])()
    except DataError:  # the run names all unreadable inputs when it stores them
        return 1
    return max(stored.size * FLOAT if stored.dtype.itemsize == 1 else stored.nbytes, 1)


def _worker_count(cluster: Cluster | None, otherwise: int = 1) -> int:
    return cluster.workers if isinstance(cluster, LocalWorkers) else otherwise


def _file_bytes(card: object) -> int:
    """Bytes of the file of a model; 0 without a file."""
    file = getattr(card, "weights", None) or getattr(card, "file", None)
    return file.stat().st_size if isinstance(file, Path) and file.is_file() else 0
