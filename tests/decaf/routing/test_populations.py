"""Summaries of many profiles: populations, sweeps of thresholds, and the identities they keep."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from decaf.errors import ChecksFailed, ResponseError
from decaf.routing.identities import audit_profiles
from decaf.routing.integrals import integrate
from decaf.routing.population import summarise
from decaf.routing.profiles import Profiles, profile
from decaf.routing.thresholds import sweep

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


def test_a_sweep_by_hand():
    # Abs 0.2, 0.015 and 0.005: the step to 0.02 turns the last null, that to 0.05 the second.
    swept = sweep(integrate([[0.0, 0.4], [0.0, 0.03], [0.0, -0.01]], [0, 1]), [0.01, 0.02, 0.05])
    assert swept.epsilons == (0.01, 0.02, 0.05)
    assert [p.active_rate for p in swept.populations] == pytest.approx([1, 2 / 3, 1 / 3])
    first, second = swept.steps
    assert (first.lower, first.upper, second.lower, second.upper) == (0.01, 0.02, 0.02, 0.05)
    assert first.evidence_change == pytest.approx(-0.005 / 3)
    assert first.fragility_change == pytest.approx(0.005 / 3)
    assert second.fragility_change == pytest.approx(0.015 / 3)
    assert first.contradiction_change == second.contradiction_change == 0
    assert first.crossing_rate == second.crossing_rate == pytest.approx(1 / 3)
    assert first.bound == second.bound == pytest.approx(0.2 / 3)


def test_a_sweep_gives_the_population_of_every_threshold():
    response = np.random.default_rng(0).normal(0, 0.05, (40, 2, 9))
    grid = np.linspace(0, 1, 9)
    swept = sweep(integrate(response, grid), [0.01, 0.02, 0.05])
    for epsilon, population in zip(swept.epsilons, swept.populations, strict=True):
        assert population == summarise(profile(response, grid, epsilon))


def test_one_threshold_has_no_step():
    assert sweep(integrate([[0.0, 0.4]], [0, 1]), [0.02]).steps == ()


@pytest.mark.parametrize("epsilons", [[], [0.02, 0.02], [0.05, 0.02], [0, 0.02], [0.02, np.nan]])
def test_thresholds_that_do_not_increase_from_above_zero_are_refused(epsilons):
    with pytest.raises(ResponseError, match=r"increasing|above 0"):
        sweep(integrate([[0.0, 0.4]], [0, 1]), epsilons)


@pytest.mark.parametrize(
    ("sums", "epsilons"),
    [
        (profile([[0.0, 0.4]], [0, 1]), [0.02]),
        (np.zeros((3, 4)), [0.02]),
        (integrate([[0.0, 0.4]], [0, 1]), 0.02),
    ],
)
def test_a_sweep_of_anything_else_is_refused(sums, epsilons):
    with pytest.raises(ResponseError, match="expected"):
        sweep(sums, epsilons)


RESPONSE = [[0.1, -0.2, 0.3], [0.2, 0.1, 0.01]]


@pytest.mark.parametrize("field", ["evidence", "contradiction", "fragility", "abs_response"])
@pytest.mark.parametrize("off", [1e-9, -1e-9, np.nan])
def test_a_profile_that_is_off_fails_with_its_place(field, off):
    p = profile(RESPONSE, [0, 0.5, 1])
    audit_profiles(p)
    getattr(p, field)[1] += off
    with pytest.raises(ChecksFailed, match=r"Abs = E.*1 of 2 .*\(1,\)"):
        audit_profiles(p)


def test_rounding_is_no_failure():
    p = profile(RESPONSE, [0, 0.5, 1])
    p.evidence[0] += 1e-13
    audit_profiles(p)


def test_components_that_add_up_must_not_be_negative():
    p = profile(RESPONSE, [0, 0.5, 1])
    p.evidence[1] += 0.1
    p.contradiction[1] -= 0.1
    with pytest.raises(ChecksFailed, match=r">= 0.*first at \(1,\), off by -0.1"):
        audit_profiles(p)


def test_a_single_profile_is_audited_too():
    p = profile(RESPONSE[0], [0, 0.5, 1])
    audit_profiles(p)
    with pytest.raises(ChecksFailed, match=r"first at \(\)"):
        audit_profiles(p._replace(abs_response=np.float64(1.0)))
