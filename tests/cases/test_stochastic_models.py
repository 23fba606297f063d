"""Models that draw: every input is scored several times; the mean of the queries is its score."""

import numpy as np
import pytest
from flow_fixtures import NETWORKS
from in_process import compute, planned
from small_studies import of_scenes
from warehouse_answers import failed_checks, fetched

from decaf.errors import ConfigError, ModelError
from decaf.plan.study import load_study

BLEND = {"kind": "blend"}


def drawing(name="noisy", **stochastic):
    card = {"id": name, "family": "any", "source": "function", "output": "value"}
    card |= {"function": f"batch_bound:{name}"}
    return card | ({"stochastic": stochastic} if stochastic else {})


@pytest.fixture
def study_of(tmp_path, write):
    """A study of a model that draws, as it is loaded."""

    def loaded(card, **changed):
        settings = of_scenes(tmp_path, [card], python_path=[str(NETWORKS)], **changed)
        return load_study(write(settings | {"score": {"kind": "regression_value"}}))

    return loaded


REPEATS = "SELECT pair_id, path, repeat, q_plus, q_minus FROM stg_repeats ORDER BY ALL"
MEANS = "SELECT pair_id, path, q_plus, q_minus FROM stg_trajectories ORDER BY ALL"


def branches(rows):
    """(rows, 2, stages) scores of rows that end with those of both branches."""
    return np.array([row[-2:] for row in rows])


def test_the_score_is_the_mean_of_independent_queries_which_are_rows(study_of, tmp_path):
    compute(study_of(drawing(repeats=4)))
    root = tmp_path / "warehouse"
    repeats, means = fetched(root, REPEATS), fetched(root, MEANS)
    assert {row[2] for row in repeats} == {0, 1, 2, 3}
    queries = branches(repeats).reshape(len(means), 4, 2, -1)
    assert queries.mean(axis=1) == pytest.approx(branches(means), abs=1e-12)
    drawn = queries[:, :, :, 1:]  # both branches share the start
    assert (queries[:, :, 0, 0] == queries[:, :, 1, 0]).all()
    assert (drawn.std(axis=1) > 0.01).all()
    rows = fetched(root, "SELECT sum(forward_rows), sum(naive_rows) FROM stg_costs")
    once = fetched(root, "SELECT count(*) * 2 * 9 FROM stg_trajectories")
    assert rows[0][1] == 4 * once[0][0]
    assert failed_checks(root) == []


def test_seeds_are_shared_by_all_inputs_of_a_query(study_of, tmp_path):
    compute(study_of(drawing("seeded", repeats=3, seed="seed")))
    root = tmp_path / "warehouse"
    compute_plain = study_of(drawing("plain"), study="plain")
    compute(compute_plain)
    one = "SELECT pair_id, path, q_plus, q_minus FROM stg_trajectories WHERE study = $study "
    one += "ORDER BY ALL"
    plain, seeded = (fetched(root, one, study=name) for name in ("plain", "try"))
    slopes = [1 + 0.1 * np.random.default_rng(seed).standard_normal() for seed in range(3)]
    assert branches(seeded) == pytest.approx(branches(plain) * np.mean(slopes), abs=1e-9)
    repeats = branches(fetched(root, REPEATS)).reshape(len(plain), 3, 2, -1)
    expected = branches(plain)[:, None] * np.array(slopes)[:, None, None]
    assert repeats == pytest.approx(expected, abs=1e-9)


def test_another_path_keeps_the_queries_of_the_clean_inputs(study_of, tmp_path):
    compute(study_of(drawing(repeats=4)))
    both = {"blend": BLEND, "patches": {"kind": "patches"}}
    compute(study_of(drawing(repeats=4), paths=both))
    root = tmp_path / "warehouse"
    ends = "SELECT pair_id, repeat, q_plus[-1], q_minus[-1] FROM stg_repeats WHERE path = $path "
    ends += "ORDER BY ALL"
    first, second = (np.array(fetched(root, ends, path=path)) for path in both)
    assert first[:, 2:].astype(float) == pytest.approx(second[:, 2:].astype(float), abs=1e-12)
    assert failed_checks(root) == []


def test_the_number_of_queries_and_the_seeds_belong_to_the_key(study_of):
    cards = drawing("seeded"), drawing("seeded", repeats=2), drawing("seeded", repeats=3)
    cards += (drawing("seeded", repeats=2, seed="seed"),)
    keys = [{unit.key for unit in planned(study_of(card)).work.units} for card in cards]
    for number, own in enumerate(keys):
        for others in keys[:number]:
            assert own.isdisjoint(others)


@pytest.mark.parametrize(
    "stochastic", [{"repeats": 1}, {"repeats": 0}, {"repeats": 2, "seed": "not a name"}]
)
def test_impossible_repeats_are_refused(study_of, stochastic):
    with pytest.raises(ConfigError):
        study_of(drawing(**stochastic))


def test_a_seed_needs_a_function_that_takes_it(study_of):
    card = study_of(drawing("plain", repeats=2, seed="seed")).models[0]
    with pytest.raises(ModelError):
        card.load("cpu")
    endpoint = {"id": "remote", "family": "any", "source": "endpoint", "url": "http://127.0.0.1:9"}
    endpoint |= {"version": "1", "output": "value", "stochastic": {"seed": "seed"}}
    with pytest.raises(ConfigError):
        study_of(endpoint)


def test_pairs_within_the_noise_of_epsilon_are_warned_of(study_of, tmp_path):
    compute(study_of(drawing(repeats=4)))
    root = tmp_path / "warehouse"
    ends = branches(fetched(root, REPEATS)).reshape(-1, 4, 2, 9)[:, :, :, -1]
    responses = ends[:, :, 0] - ends[:, :, 1]
    d, error = responses.mean(axis=1), responses.std(axis=1, ddof=1) / 2
    near = np.count_nonzero(np.abs(np.abs(d) - 0.02) <= 2 * error)
    noise = "SELECT sum(near_epsilon_count), max(repeat_count), avg(endpoint_error) "
    noise += "FROM out_score_noise"
    assert fetched(root, noise) == [(near, 4, pytest.approx(error.mean()))]
    warned = "SELECT affected_count FROM out_warnings WHERE warning = 'near_epsilon_by_noise'"
    assert fetched(root, warned) == [(near,)]
    assert near > 0
