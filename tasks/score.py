"""Send the shards of a plan to the workers."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from distributed import Client

from decaf.data.input_store import input_file, store_inputs
from decaf.data.pairs import PairSet
from decaf.errors import DecafError
from decaf.models.card import ModelCard
from decaf.plan.shards import Shard, fitted_paths
from decaf.plan.study import Study
from tasks.cluster.drive import drive
from tasks.cluster.worker import ModelOrder
from tasks.plan import AuditPlan, software
from tasks.progress import WorkProgress, announce
from tasks.shard import ShardOrder, ShardReport, examine_model, run_shard


def store_pairs(study: Study, pairs: PairSet) -> Path:
    """Check that the pairs can be paired and store their clean inputs once; returns the file.

    Raises
    ------
    DataError
        Naming the inputs that cannot be used.
    """
    if not input_file(study.workspace, pairs.image_set).exists():
        announce(f"checking and storing {len(pairs.images)} inputs")
        study.data.verify(pairs)
    return store_inputs(study.workspace, pairs.image_set, study.data.read_image).absolute()


def examine_models(client: Client, plan: AuditPlan, inputs: Path) -> None:
    """Load every model that has work on a worker, before anything is scored.

    Raises
    ------
    BadInput
        Naming all models that cannot be loaded or whose outputs do not fit the score.
    ScoringFailed
        When an endpoint gives no answer.
    """
    first = {shard.model.id: shard for shard in reversed(plan.unscored)}
    if first:
        announce(f"{len(plan.pending)} shards to do; loading each of {len(first)} models once")
    orders = [shard_order(plan, shard, inputs) for shard in first.values()]
    drive(client, examine_model, orders, list(first), lambda _: None)


def unusable_models(client: Client, plan: AuditPlan, inputs: Path) -> dict[str, str]:
    """Load every model that has work; those that cannot be loaded or scored, and why."""
    problems = {}
    for shard in {shard.model.id: shard for shard in reversed(plan.unscored)}.values():
        order = shard_order(plan, shard, inputs)
        try:
            drive(client, examine_model, [order], [shard.model.id], lambda _: None)
        except DecafError as error:
            problems[shard.model.id] = str(error.__cause__ or error)
    return problems


def score_shards(
    client: Client,
    plan: AuditPlan,
    shards: Sequence[Shard],
    inputs: Path,
    progress: WorkProgress,
    rank: int,
) -> None:
    """Score and route the shards of one model; each is committed by the worker that did it.

    A shard whose receipts are there is passed over, so a second call does only what is left.
    """

    def report(done: ShardReport) -> None:
        progress.advance(done.model_id, done.forward_rows)

    drive(
        client,
        run_shard,
        [shard_order(plan, shard, inputs) for shard in shards],
        [f"{shard.model.id}-{shard.block:05d}" for shard in shards],
        report,
        rank,
    )


def shard_order(plan: AuditPlan, shard: Shard, inputs: Path) -> ShardOrder:
    """What a worker needs to know of a shard."""
    study = plan.study
    return ShardOrder(
        root=plan.root,
        study=study.study,
        model=model_order(study, shard.model, shard.keys.inputs),
        score=study.score,
        paths=fitted_paths(study, plan.pairs),
        grid=study.grid,
        epsilon=study.epsilon,
        batch_size=study.batch_size,
        inputs=inputs,
        block=plan.pairs.block(shard.rows),
        keys=shard.keys,
        software=software(),
    )


def model_order(study: Study, card: ModelCard, inputs: Mapping[str, str]) -> ModelOrder:
    """What a worker needs to know of a model; ``inputs`` are the fields of what it works on."""
    return ModelOrder(
        card=card,
        weights=inputs["weights"],
        feeding=inputs["feeding"],
        workspace=study.workspace.absolute(),
        device=study.device,
    )
