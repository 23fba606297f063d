"""Make one baseline of a model and commit it: what a Dask worker runs. Nothing imports Prefect."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.errors import ModelError
from decaf.evaluation.baselines.base import CountedProbability, Subject
from decaf.models.card import Model
from decaf.plan.baseline_units import BaselineUnit
from decaf.plan.study import Data
from tasks.cluster.worker import ModelOrder, device_name, loaded_model, peak_memory, worker_name
from warehouse.commits import receipts
from warehouse.commits.writer import commit
from warehouse.storage import Root
from warehouse.tables.baselines import BASELINE_COSTS, BASELINE_SCORES


@dataclass(frozen=True)
class BaselineOrder:
    """What a worker is told: keys, settings and names, no rows and no weights."""

    root: Root
    study: str
    model: ModelOrder
    data: Data
    batch_size: int
    unit: BaselineUnit
    software: dict[str, str]


class BaselineReport(NamedTuple):
    """What comes back: a few numbers."""

    model_id: str
    predicted_rows: int


def run_baseline(order: BaselineOrder) -> BaselineReport:
    """Make one baseline, unless its receipt is there.

    Reads the table and the model; writes one commit, also where the method is undefined.

    Raises
    ------
    ModelError
        When the model gives no probabilities of two classes.
    """
    unit = order.unit
    if receipts.exists(order.root, "baselines", order.study, unit.key):
        return BaselineReport(unit.model.id, 0)
    started_at = datetime.now(UTC)
    model, load_seconds = loaded_model(order.model)
    preparing = time.perf_counter()
    unit.baseline.prepare()
    subject = Subject(
        probability=CountedProbability(_probability(unit, model), order.batch_size),
        rows=order.data.factual_rows(unit.model.training),
        estimator=model.estimator,
        refit_without_factor=unit.model.training.fit_without_factor,
    )
    started, processed = time.perf_counter(), time.process_time()
    found = unit.baseline.measure(subject)
    cost = {
        "baseline_key": unit.key,
        "method": unit.method,
        "predicted_rows": subject.probability.rows,
        "load_seconds": load_seconds,
        "prepare_seconds": started - preparing,
        "wall_seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - processed,
        "peak_memory_bytes": peak_memory(model.device),
        "device": device_name(model.device),
        "worker": worker_name(),
        "started_at": started_at,
    }
    scores = [
        {"baseline_key": unit.key, "method": unit.method, "component": name} | one._asdict()
        for name, one in found.items()
    ]
    commit(
        order.root,
        "baselines",
        order.study,
        unit.key,
        {
            "baseline_scores": pa.Table.from_pylist(scores, schema=BASELINE_SCORES.schema),
            "baseline_costs": pa.Table.from_pylist([cost], schema=BASELINE_COSTS.schema),
        },
        model_id=unit.model.id,
        inputs=unit.inputs,
        software=order.software,
    )
    return BaselineReport(unit.model.id, subject.probability.rows)


def _probability(
    unit: BaselineUnit, model: Model
) -> Callable[[NDArray[np.float32]], NDArray[np.float64]]:
    """(n, p) rows → (n,) P(y = 1), through the same preprocessing as the audit's."""
    if model.output != "probabilities":
        raise ModelError(
            f"model {unit.model.id} gives a {model.output}, and baseline {unit.method} needs "
            "probabilities: use 'method: predict_proba', or leave the model out of it with "
            "'models:' or 'families:'"
        )

    def answer(rows: NDArray[np.float32]) -> NDArray[np.float64]:
        import torch

        found = model.outputs(torch.from_numpy(rows))
        if found.shape[1] != 2:
            raise ModelError(
                f"model {unit.model.id} has {found.shape[1]} classes; baseline {unit.method} "
                "needs two"
            )
        return found[:, 1].numpy()

    return answer
