"""Several models of one worker score a block together, to the rows that each gives alone."""

import threading
import time
import weakref
from collections import Counter
from contextlib import ExitStack

import numpy as np
import pytest
import torch
from distributed import Client, LocalCluster
from in_process import orders_of, planned
from PIL import Image
from small_studies import of_scenes, untrained
from warehouse_answers import answers, failed_checks, fetched

from decaf.errors import DiskRefuses, ModelError, WorkerEnded, WriteFailed
from decaf.models.sources.network import NetworkModel
from decaf.plan.study import Study
from decaf.scoring.states import StateBuilder
from tasks import compute
from tasks.cluster import worker
from tasks.estimate import Estimate, Remaining
from tasks.inputs import store_pairs
from tasks.manifest import commit_run
from tasks.order import together_of
from tasks.units import orders, state_plans
from tasks.units.bench import Together, divided
from tasks.units.orders import run_order, run_together
from tasks.units.rows import trajectory_rows
from warehouse.commits.writer import open_root

BLOCKS, MODELS = 2, 3
STAMPED = ("stg_files", "stg_costs", "stg_models", "stg_runs")
"""Views whose rows say when or where something was done."""
PATHS = {"blend": {"kind": "blend"}, "patch": {"kind": "patches"}}


def study_in(folder, models=MODELS, **changed):
    """Two blocks and some models, whose results lie in the folder."""
    folder.mkdir(exist_ok=True)
    cards = [untrained(folder, f"model-{seed}", seed) for seed in range(models)]
    settings = {"paths": PATHS, "sources_per_block": 1, "batch_size": 16} | changed
    return Study(**of_scenes(folder, cards, BLOCKS, **settings))


def by_block(given):
    """Orders of several models that are carried out together."""
    return [Together(tuple(given[block::BLOCKS])) for block in range(BLOCKS)]


@pytest.fixture
def built(monkeypatch):
    """How many states are built, batch by batch."""
    found, build = [], StateBuilder.build

    def noting(builder, states):
        found.append(len(states))
        return build(builder, states)

    monkeypatch.setattr(StateBuilder, "build", noting)
    return found


def test_models_together_give_the_rows_of_models_alone(tmp_path, built):
    alone, together = study_in(tmp_path / "alone"), study_in(tmp_path / "together")
    rows = [run_order(order).forward_rows for order in orders_of(alone)]
    built_alone = sum(built)
    built.clear()
    done = [one for block in by_block(orders_of(together)) for one in run_together(block)]
    assert sum(built) * MODELS == built_alone == sum(rows)
    assert sorted(one.forward_rows for one in done) == sorted(rows)
    assert [one.label for one in done] == [
        f"model-{model}-{block:05}-predict" for block in range(BLOCKS) for model in range(MODELS)
    ]
    assert answers(alone.warehouse, but=STAMPED) == answers(together.warehouse, but=STAMPED)
    assert failed_checks(together.warehouse) == []
    assert planned(together).pending == []


def test_time_that_models_share_is_divided_among_them(tmp_path):
    study = study_in(tmp_path)
    first, second = by_block(orders_of(study))
    done = run_together(first)
    spent = fetched(
        study.warehouse,
        "SELECT model_id, load_seconds + prepare_seconds + forward_seconds, wall_seconds, "
        "cpu_seconds, batch_size FROM stg_costs ORDER BY ALL",
    )
    assert len(spent) == MODELS
    rest = {round(wall - own, 9) for _, own, wall, *_ in spent}
    assert len(rest) == 1, "of what is nobody's, all have as much"
    assert min(rest) > 0
    assert all(cpu > 0 and batch == 16 for *_, cpu, batch in spent)
    total = sum(one.seconds for one in done)
    walls = sum(wall for _, _, wall, *_ in spent)
    assert total > walls, "with the commits"
    for one, (_, _, wall, *_) in zip(done, spent, strict=True):
        assert one.seconds == pytest.approx(total * wall / walls)
    # Models that the worker holds are not loaded again.
    run_together(second)
    loads = fetched(
        study.warehouse,
        "SELECT count(*) FROM stg_costs WHERE load_seconds > 0",
    )
    assert loads == [(MODELS,)]


def test_seconds_of_orders_together_by_hand():
    row = {"load_seconds": 0.0, "prepare_seconds": 1.0, "wall_seconds": 12.0, "cpu_seconds": 24.0}
    rows = [row | {"forward_seconds": 2.0}, row | {"forward_seconds": 5.0, "wall_seconds": 11.9}]
    # 12 s less 3 and 6 of their own leave 1.5 for each.
    found = [(one["wall_seconds"], one["cpu_seconds"]) for one in divided(rows)]
    assert found == [(4.5, 9.0), (7.5, 15.0)]
    assert divided(rows[:1]) == rows[:1]


def test_what_is_committed_is_not_computed_again(tmp_path, built):
    study = study_in(tmp_path)
    first, _ = by_block(orders_of(study))
    run_order(first.orders[1])
    built.clear()
    done = run_together(first)
    assert [one.forward_rows > 0 for one in done] == [True, False, True]
    assert [one.seconds > 0 for one in done] == [True, False, True]
    once = sum(built)
    assert run_together(first) == tuple(one._replace(forward_rows=0, seconds=0.0) for one in done)
    assert sum(built) == once == done[0].forward_rows


def photos_in(folder, sizes, baseline, *means):
    """Four photos in two blocks, of sizes in turn, and networks with these means."""
    (folder / "photos").mkdir(parents=True)
    random = np.random.default_rng(0)
    for number in range(2 * BLOCKS):
        width, height = sizes[number % len(sizes)]
        pixels = random.integers(1, 256, (height, width, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / "photos" / f"{number}.png")
    data = {"adapter": "image_features", "images": str(folder / "photos")}
    return Study(
        **of_scenes(
            folder,
            [untrained(folder, f"net-{n}", n, mean=[mean]) for n, mean in enumerate(means)],
            data=data | {"features": {"kind": "grid", "side": 2}},
            paths={"removal": {"kind": "removal", "baseline": baseline}},
            sources_per_block=2,
        )
    )


def assert_shared(study_of, built, share):
    """Models together have the rows of models alone, and so large a share of the states built."""
    alone, together = study_of("alone"), study_of("together")
    for order in orders_of(alone):
        run_order(order)
    rows = sum(built)
    built.clear()
    for block in by_block(orders_of(together)):
        run_together(block)
    assert sum(built) == rows * share
    assert answers(alone.warehouse, but=STAMPED) == answers(together.warehouse, but=STAMPED)


def test_inputs_of_several_shapes_come_shape_by_shape(tmp_path, built):
    def study_of(name):
        sizes = [(32, 32), (40, 24)]
        study = photos_in(tmp_path / name, sizes, "constant", 0.5, 0.5)
        assert all(order.others for order in orders_of(study))
        return study

    assert_shared(study_of, built, 1 / 2)


def test_what_was_read_for_one_shape_is_let_go_before_the_next(tmp_path, monkeypatch):
    one, *_, last = orders_of(photos_in(tmp_path, [(32, 32), (40, 24)], "constant", 0.5, 0.5))
    computed, begun = orders._asked, []

    def noting(*given):
        assert all(bench() is None for bench in begun)
        benches = computed(*given)
        begun.extend(map(weakref.ref, benches))
        return benches

    monkeypatch.setattr(orders, "_asked", noting)
    run_order(one)
    run_together(Together((last,)))
    assert len(begun) == 4, "two shapes of each"


def test_models_that_start_at_a_mean_of_their_own_are_scored_by_themselves(tmp_path, built):
    def study_of(name):
        return photos_in(tmp_path / name, [(32, 32)], "mean", 0.5, 0.25, 0.5)

    assert_shared(study_of, built, 2 / 3)


def test_a_path_that_is_added_takes_what_each_model_has_stored(tmp_path, built):
    """Where one has fewer scores stored, it needs more states than the others, and gets them."""

    def study_of(name):
        study = study_in(tmp_path / name)
        first = study.model_copy(update={"paths": {"blend": study.paths["blend"]}})
        for order in orders_of(first):
            with pytest.MonkeyPatch.context() as patch:
                if order.units[0].model_id == "model-2":
                    patch.setattr(NetworkModel, "outputs", spoiled(NetworkModel.outputs))
                run_order(order)
        built.clear()
        return study

    alone = study_of("alone")
    of_model = Counter()
    for order in orders_of(alone):
        of_model[order.units[0].model_id] += run_order(order).forward_rows
    assert of_model["model-0"] == of_model["model-1"] < of_model["model-2"]
    together = study_of("together")
    for block in by_block(orders_of(together)):
        run_together(block)
    assert sum(built) == of_model["model-1"] + of_model["model-2"]
    assert answers(alone.warehouse, but=STAMPED) == answers(together.warehouse, but=STAMPED)


def spoiled(outputs):
    """Outputs whose first is no number."""

    def spoil(model, inputs):
        found = outputs(model, inputs)
        found[0] = torch.nan
        return found

    return spoil


def test_a_worker_keeps_the_models_of_its_orders_alone(tmp_path):
    study = study_in(tmp_path)
    given = orders_of(study)
    first, _ = by_block(given)

    def held():
        return sorted(order.card.id for order, _ in worker._held)

    run_together(Together(first.orders[:2]))
    assert held() == ["model-0", "model-1"]
    run_together(Together(first.orders[1:]))
    assert held() == ["model-2"], "the other one had nothing left to do"
    run_order(given[1])
    assert held() == ["model-0"]


def test_an_error_of_one_model_is_raised_and_nothing_of_the_block_is_committed(
    tmp_path, monkeypatch
):
    study = study_in(tmp_path)
    first, _ = by_block(orders_of(study))
    calls = []

    def failing(keys, *given):
        calls.append(keys)
        if len(calls) == 2:
            raise ModelError("of no use")
        return trajectory_rows(keys, *given)

    monkeypatch.setattr("tasks.units.score.trajectory_rows", failing)
    with pytest.raises(ModelError, match="of no use"):
        run_together(first)
    assert fetched(study.warehouse, "SELECT count(*) FROM stg_costs") == [(0,)]


@pytest.fixture
def client_of():
    """A client of so many workers, which are threads here."""
    with ExitStack() as stack:

        def begin(workers):
            here = {"processes": False, "n_workers": workers, "threads_per_worker": 1}
            cluster = stack.enter_context(LocalCluster(**here, dashboard_address=":0"))
            return stack.enter_context(Client(cluster))

        yield begin


class Progress:
    """What would be shown."""

    def __init__(self):
        self.labels = []

    def advance(self, label, forward_rows, unit_count=1):
        self.labels.append((label, forward_rows > 0))


@pytest.fixture
def run(client_of):
    """Compute models of a study together; what is left of each, and what was shown."""

    def computed(study, but=(), workers=1):
        client = client_of(workers)
        open_root(study.warehouse)
        plan = planned(study)
        inputs = store_pairs(plan)
        commit_run(plan)
        progress = Progress()
        remaining = Remaining(Estimate(), plan.pending)
        work = {name: own for name, own in plan.by_model.items() if name not in but}
        left = compute.compute_together(client, plan, work, inputs, None, progress, remaining, 0)
        return {name: len(own) for name, own in left.items()}, progress.labels

    return computed


def test_blocks_that_several_models_have_to_score_are_scored_together(tmp_path, run, built):
    study = study_in(tmp_path)
    for order in orders_of(study)[:1]:
        run_order(order)
    built.clear()
    left, shown = run(study)
    assert left == {"model-0": 0, "model-1": 0, "model-2": 0}
    assert len(shown) == MODELS * BLOCKS - 1
    plan = state_plans._kept
    assert sum(built) == sum(one.state_count for kept in plan.values() for one in kept.values()), (
        "each block once"
    )
    assert planned(study).pending == []
    # One alone is left to its own task.
    other = study.model_copy(update={"study": "other"})
    assert run(other, but=["model-0", "model-1"]) == ({"model-2": BLOCKS}, [])


def test_pairs_of_a_block_are_sent_once_for_all_models(tmp_path):
    study = study_in(tmp_path)
    given = orders_of(study)
    plan = planned(study)
    groups = [own[0] for own in plan.by_model.values()]
    sent = together_of(plan, groups, given[0].inputs, None)
    assert [order.key for order in sent.orders] == [order.key for order in given[::BLOCKS]]
    assert len({id(order.block) for order in sent.orders}) == 1
    assert sent.orders[1].block.pair_ids == given[BLOCKS].block.pair_ids
    assert [order.model for order in sent.orders] == [order.model for order in given[::BLOCKS]]


@pytest.mark.parametrize("error", [ModelError("no head"), WorkerEnded("ended its worker")])
def test_what_goes_wrong_leaves_every_model_to_itself(tmp_path, run, monkeypatch, capsys, error):
    study = study_in(tmp_path)
    carry_out, calls = orders._carried_out, []

    def failing(given):
        calls.append(len(given))
        if len(calls) == 2:
            raise error
        return carry_out(given)

    monkeypatch.setattr(orders, "_carried_out", failing)
    left, shown = run(study)
    assert left == dict.fromkeys(["model-0", "model-1", "model-2"], BLOCKS - 1)
    assert len(shown) == MODELS
    said = " ".join(capsys.readouterr().err.split())
    assert "model-0, model-1, model-2 are scored one by one from here on: " in said
    assert f"together they failed at model-0-00001-predict: {error}" in said


@pytest.mark.slow
def test_nothing_is_begun_again_before_workers_have_let_go_of_it(tmp_path, run, monkeypatch):
    study = study_in(tmp_path)
    carry_out, ended, failing = orders._carried_out, [], threading.Event()

    def slow(given):
        if given[0].units[0].block == 0:
            assert failing.wait(60)
            time.sleep(2)
            ended.append(given)
            return carry_out(given)
        failing.set()
        raise ModelError("no head")

    monkeypatch.setattr(orders, "_carried_out", slow)
    left, shown = run(study, workers=2)
    assert len(ended) == 1
    assert shown == [], "it was taken back, so nobody heard of its end"
    assert set(left.values()) == {BLOCKS}
    assert len(planned(study).pending) == len(study.models) * (1 + 2 * len(PATHS)), "one block"


def test_a_disk_that_refuses_ends_all(tmp_path, run, monkeypatch):
    study = study_in(tmp_path)

    def refused(*_, **__):
        raise WriteFailed("no room") from OSError(28, "No space left on device")

    monkeypatch.setattr(orders, "commit", refused)
    with pytest.raises(DiskRefuses, match="no room"):
        run(study)


def test_torch_tells_who_writes_into_a_batch_that_was_built_outside_of_inference():
    batch = torch.zeros(2, 3)
    before = batch._version
    with torch.inference_mode():
        batch[1:].add_(1)
    assert batch._version > before
