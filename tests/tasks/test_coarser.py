"""A path that is scored on more stages scores the new ones alone."""

import numpy as np
import pytest
from in_process import compute
from small_studies import of_scenes, untrained, white_reference
from warehouse_answers import fetched

from decaf.plan.study import Study
from warehouse.commits.writer import open_root

PATHS = {
    "blend": {"kind": "blend", "sigma": 1.0},
    "patch": {"kind": "patches", "sigma": 1.0, "side": 8},
}
TRAJECTORIES = (
    "SELECT path, pair_id, repetition, q_plus, q_minus FROM core_trajectories ORDER BY ALL"
)


@pytest.fixture
def study_of(tmp_path):
    """Make a study of one network on a number of stages, with a warehouse of its name."""
    model = untrained(tmp_path, "net")

    def of(stages, warehouse="warehouse", paths=PATHS):
        place = {"warehouse": str(tmp_path / warehouse)}
        return Study.model_validate(
            of_scenes(tmp_path, [model], stages=stages, paths=paths, epsilon=0.001, **place)
        )

    return of


def count_rows(study):
    """Compute what is missing of a study; the forward rows that this took."""
    open_root(study.warehouse)
    query = "SELECT coalesce(sum(forward_rows), 0) FROM stg_costs"
    ((before,),) = fetched(study.warehouse, query)
    compute(study)
    ((after,),) = fetched(study.warehouse, query)
    return after - before


def rows_of(study):
    return fetched(study.warehouse, TRAJECTORIES)


@pytest.mark.parametrize("stages", [(3, 5), (3, 9)], ids=["doubled", "doubled twice"])
def test_new_stages_are_scored_alone_and_equal_a_run_from_the_start(study_of, stages):
    coarse, fine = stages
    first = count_rows(study_of(coarse))
    added = count_rows(study_of(fine))
    whole = count_rows(study_of(fine, "whole"))
    # Clean inputs and starts belong to both grids.
    assert added == whole - first
    refined, fresh = rows_of(study_of(fine)), rows_of(study_of(fine, "whole"))
    assert [row[:3] for row in refined] == [row[:3] for row in fresh]
    scores = [np.array([row[3:] for row in rows]) for rows in (refined, fresh)]
    assert scores[0].shape[-1] == fine
    np.testing.assert_allclose(*scores, atol=1e-5)


def test_a_grid_that_holds_none_of_the_stored_stages_is_scored_whole(study_of):
    count_rows(study_of(3))
    # Six clean inputs were scored before; the starts were not stored as such.
    assert count_rows(study_of(4)) == count_rows(study_of(4, "whole")) - 6


def test_a_chain_whose_states_depend_on_all_stages_is_scored_again(study_of, tmp_path):
    noise = {"kind": "gaussian", "reference": str(white_reference(tmp_path))}

    def chain(stages):
        return {"chain": noise | {"chain": "reverse_markov", "stages": stages}}

    count_rows(study_of(9, paths=chain(3)))
    fine, whole = study_of(9, paths=chain(5)), study_of(9, "whole", paths=chain(5))
    assert count_rows(fine) == count_rows(whole) - 6
    for refined, again in zip(rows_of(fine), rows_of(whole), strict=True):
        np.testing.assert_allclose(refined[3:], again[3:], atol=1e-5)
