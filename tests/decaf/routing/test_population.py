import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from decaf.errors import ChecksFailed, ResponseError
from decaf.routing.population import summarise
from decaf.routing.profiles import Profiles, profile

THREE = [0, 0.5, 1]
BY_HAND = [[0.0, -0.2, 0.4], [0.0, 0.2, 0.0], [0.0, 0.2, 0.4], [0.0, -0.1, 0.0]]


def test_a_population_by_hand():
    # Active: E 0.1 and 0.2, C 0.1 and 0. Null: F 0.1 and 0.05.
    p = summarise(profile(BY_HAND, THREE))
    assert p.pair_count == 4
    assert p.endpoint_magnitude == pytest.approx(0.2)
    assert p.evidence == pytest.approx(0.075)
    assert p.contradiction == pytest.approx(0.025)
    assert p.fragility == pytest.approx(0.0375)
    assert p.abs_response == pytest.approx(0.1375)
    assert p.net_response == pytest.approx(0.05)
    assert p.active_rate == 0.5
    assert p.active_evidence == pytest.approx(0.15)
    assert p.active_contradiction == pytest.approx(0.05)
    assert p.null_fragility == pytest.approx(0.075)


@pytest.mark.parametrize(
    ("rows", "missing"),
    [([0, 2], {"null_fragility"}), ([1, 3], {"active_evidence", "active_contradiction"})],
    ids=["all active", "all null"],
)
def test_a_branch_without_pairs_has_no_mean(rows, missing):
    p = summarise(profile(np.array(BY_HAND)[rows], THREE))._asdict()
    assert {name for name, value in p.items() if np.isnan(value)} == missing


@given(arrays(np.float64, (12, 3), elements=st.floats(-1, 1)), st.integers(1, 12))
def test_batches_give_the_population_of_the_whole(response, size):
    parts = (profile(response[i : i + size], THREE, 0.3) for i in range(0, 12, size))
    whole = summarise(profile(response, THREE, 0.3))
    np.testing.assert_allclose(summarise(parts), whole, rtol=1e-14, atol=1e-15)


def test_every_entry_is_a_pair_whatever_the_shape():
    p = profile(np.reshape(BY_HAND, (2, 2, 3)), THREE)
    assert summarise(p) == summarise(profile(BY_HAND, THREE))


def test_profiles_that_break_conservation_are_not_averaged():
    p = profile(BY_HAND, THREE)
    p.fragility[0] += 0.1
    with pytest.raises(ChecksFailed, match="Abs = E"):
        summarise([profile(BY_HAND, THREE), p])


def test_a_population_has_a_pair():
    nothing = Profiles(*(np.empty(0) for _ in Profiles._fields))
    for batches in ([], [nothing]):
        with pytest.raises(ResponseError, match="no pair"):
            summarise(batches)
