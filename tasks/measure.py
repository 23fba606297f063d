"""Send the measurements of a plan to the workers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from distributed import Client

from decaf.data.input_store import store_inputs
from decaf.plan.measurements import NULL_PAIR_TYPE, Measurement
from decaf.plan.study import Study
from tasks.cluster.drive import drive
from tasks.measurement import Corrupting, MeasurementOrder, MeasurementReport, run_measurement
from tasks.plan import AuditPlan, software
from tasks.progress import WorkProgress
from tasks.score import model_order


def store_foregrounds(plan: AuditPlan) -> Path | None:
    """Decode the foregrounds once; returns the pixel file, or None when none are needed.

    Raises
    ------
    DataError
        Naming the images that cannot be used.
    """
    if plan.foregrounds is None:
        return None
    study: Study = plan.study
    return store_inputs(study.workspace, plan.foregrounds, study.data.read_image).absolute()


def make_measurements(
    client: Client,
    plan: AuditPlan,
    measurements: Sequence[Measurement],
    pixels: Path,
    foregrounds: Path | None,
    progress: WorkProgress,
    rank: int,
) -> None:
    """Make the measurements of one model; each is committed by the worker that made it.

    One whose receipt is there is passed over, so a second call does only what is left.
    """

    def report(done: MeasurementReport) -> None:
        progress.advance(done.model_id, done.forward_rows)

    drive(
        client,
        run_measurement,
        [_order(plan, measurement, pixels, foregrounds) for measurement in measurements],
        [f"{m.shard.model.id}-{m.shard.block:05d}-{m.name or m.kind}" for m in measurements],
        report,
        rank,
    )


def _order(
    plan: AuditPlan, measurement: Measurement, pixels: Path, foregrounds: Path | None
) -> MeasurementOrder:
    study, shard = plan.study, measurement.shard
    if measurement.kind == "corruptions":
        work = _corrupting(plan, measurement, foregrounds)
    else:
        work = study.attributions[measurement.name]
    return MeasurementOrder(
        root=plan.root,
        study=study.study,
        model=model_order(study, shard.model, shard.keys.inputs),
        score=study.score,
        batch_size=study.batch_size,
        pixels=pixels,
        block=plan.pairs.block(shard.rows),
        key=measurement.key,
        name=measurement.name,
        work=work,
        inputs=measurement.inputs,
        software=software(),
    )


def _corrupting(plan: AuditPlan, measurement: Measurement, foregrounds: Path) -> Corrupting:
    pairs = [plan.pairs.pairs[row] for row in measurement.shard.rows]
    corrupted = [n for n, pair in enumerate(pairs) if pair.pair_type == NULL_PAIR_TYPE]
    sources = list(dict.fromkeys(pair.source_id for pair in pairs))
    order = sorted({pair.source_id for pair in plan.pairs.pairs})
    return Corrupting(
        shard_key=measurement.shard.keys.shard_key,
        rows=np.array(corrupted, np.int64),
        epsilon=plan.study.epsilon,
        foregrounds=foregrounds,
        positions=np.searchsorted(order, sources),
    )
