"""A worker folds the small commits that it has made, to the same rows."""

import shutil
from pathlib import Path

import pytest
import warehouse_answers
from in_process import orders_of
from small_studies import of_scenes, untrained

from decaf.errors import WarehouseError
from decaf.plan.study import Study
from tasks.units import folding, orders
from tasks.units.folding import Folding
from tasks.units.orders import run_order
from warehouse import storage
from warehouse.commits import layout, receipts
from warehouse.commits.current import COMPACTIONS
from warehouse.upkeep import compaction

BLOCKS = 6
STAMPED = ("stg_files", "stg_costs", "stg_models", "stg_runs")
"""Views whose rows say when or where something was done."""


@pytest.fixture(autouse=True)
def own_folding(monkeypatch):
    """A worker that has committed nothing, and folds four commits, at the end two."""
    monkeypatch.setattr(orders, "FOLDING", Folding())
    monkeypatch.setattr(folding, "FOLDED_TOGETHER", 4)
    monkeypatch.setattr(folding, "FEWEST", 2)


def study_in(folder):
    """Two models and six blocks."""
    folder.mkdir()
    models = [untrained(folder, f"model-{seed}", seed) for seed in (1, 2)]
    return Study(**of_scenes(folder, models, BLOCKS, sources_per_block=1))


def folded(study):
    """Models of the compactions, and how many commits each has."""
    found = receipts.read_kind(study.warehouse, COMPACTIONS, study.study)
    return sorted((receipt.model_id, len(receipt.inputs)) for receipt in found)


def test_small_commits_are_folded_model_by_model_to_the_same_rows(tmp_path, monkeypatch):
    study = study_in(tmp_path / "folded")
    given = orders_of(study)
    assert len(given) == 2 * BLOCKS
    for order in given[:BLOCKS]:
        run_order(order)
    assert folded(study) == [("model-1", 4)]
    run_order(given[BLOCKS])  # what is left of the model before is enough
    assert folded(study) == [("model-1", 2), ("model-1", 4)]
    for order in [*given[:BLOCKS], given[BLOCKS]]:  # what is there is not made again
        assert run_order(order).forward_rows == 0
    assert folded(study) == [("model-1", 2), ("model-1", 4)]
    for order in given[BLOCKS + 1 :]:
        run_order(order)
    assert folded(study) == [("model-1", 2), ("model-1", 4), ("model-2", 4)]
    assert warehouse_answers.failed_checks(study.warehouse) == []
    for name in ("FOLDED_TOGETHER", "FEWEST"):
        monkeypatch.setattr(folding, name, 99)
    plain = study_in(tmp_path / "plain")
    for order in orders_of(plain):
        run_order(order)
    assert folded(plain) == []
    rows = [warehouse_answers.answers(one.warehouse, but=STAMPED) for one in (study, plain)]
    assert rows[0] == rows[1]
    # The rest is folded as ever.
    done = compaction.compact(study.warehouse, study.study)
    assert done.after.file_count < done.before.file_count
    assert warehouse_answers.answers(study.warehouse, but=STAMPED) == rows[1]


def test_few_commits_and_large_ones_stay(tmp_path, monkeypatch):
    study = study_in(tmp_path / "study")
    given = orders_of(study)
    for order in (given[0], given[BLOCKS], given[1]):  # one of each model
        run_order(order)
    assert folded(study) == []
    monkeypatch.setattr(compaction, "SMALL_BYTES", 0)
    for order in given[BLOCKS:]:
        run_order(order)
    assert folded(study) == []


def test_a_commit_that_is_lost_is_told(tmp_path):
    study = study_in(tmp_path / "study")
    given = orders_of(study)
    for order in given[:3]:
        run_order(order)
    lost = receipts.read_one(study.warehouse, "units", study.study, given[1].key).files[0]
    (Path(study.warehouse) / lost.path).unlink()
    with pytest.raises(WarehouseError, match="decaf check says what to do"):
        run_order(given[3])
    assert folded(study) == []
    assert receipts.exists(study.warehouse, "units", study.study, given[3].key)


def test_another_study_ends_what_waits_and_what_was_withdrawn_is_passed_over(tmp_path):
    first, second = study_in(tmp_path / "first"), study_in(tmp_path / "second")
    one, other = orders_of(first), orders_of(second)
    for order in one[:3]:
        run_order(order)
    shutil.rmtree(first.warehouse)
    for order in other[:3]:
        run_order(order)
    assert folded(second) == []
    assert not Path(first.warehouse).exists()
    storage.open(second.warehouse).delete(layout.receipt("units", second.study, other[1].key))
    run_order(other[3])
    assert folded(second) == [("model-1", 3)]
