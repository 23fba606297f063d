"""The statements of the paper (sections 3 and 4, appendices B and C), one test each."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from decaf.routing.identities import audit_profiles
from decaf.routing.integrals import integrate
from decaf.routing.population import summarise
from decaf.routing.profiles import profile
from decaf.routing.quadrature import trapezoid_weights
from decaf.routing.route import is_active, route
from decaf.routing.thresholds import sweep

NINE = np.linspace(0, 1, 9)
EPSILON = 0.1
COMPONENTS = ("evidence", "contradiction", "fragility")
RESPONSES = arrays(np.float64, (6, 9), elements=st.floats(-1, 1))
# Scores on a lattice of 2^-20, where differences and powers of two are exact.
LEVELS = st.integers(-(2**20), 2**20)
LATTICE = LEVELS.map(lambda k: k / 2**20)
SCORES = arrays(np.int64, (6, 9), elements=LEVELS).map(lambda levels: levels / 2**20)
NUMBERS = st.floats(-1, 1)


def satisfies_axioms(triple, response, endpoint, epsilon):
    """Theorem 1: non-negativity, conservation, endpoint gating and directional support."""
    e, c, f = triple
    active = bool(is_active(endpoint, epsilon))
    oriented = np.sign(endpoint) * response
    is_gated = f == 0 if active else e == c == 0
    is_directional = not active or ((c == 0 or oriented < 0) and (e == 0 or oriented > 0))
    return min(triple) >= 0 and e + c + f == abs(response) and is_gated and is_directional


# Theorem 1: unique hard-gated semantic routing.


@given(RESPONSES)
def test_conservation_holds_at_every_stage(response):
    components = route(response, epsilon=EPSILON)
    np.testing.assert_array_equal(sum(components), np.abs(response))


@given(RESPONSES)
def test_conservation_holds_after_integration(response):
    p = profile(response, NINE, EPSILON)
    np.testing.assert_array_equal(p.evidence + p.contradiction + p.fragility, p.abs_response)
    np.testing.assert_array_equal(p.evidence - p.contradiction, p.net_response)
    magnitude = np.trapezoid(np.abs(response), NINE)
    np.testing.assert_allclose(p.abs_response, magnitude, rtol=0, atol=1e-15)
    assert all((getattr(p, name) >= 0).all() for name in COMPONENTS)
    audit_profiles(p)


@given(NUMBERS, NUMBERS)
def test_the_routing_satisfies_the_axioms(response, endpoint):
    triple = tuple(part.item() for part in route([response], endpoint, EPSILON))
    assert satisfies_axioms(triple, response, endpoint, EPSILON)


@given(LATTICE, LATTICE, st.tuples(LATTICE, LATTICE, LATTICE))
def test_every_other_triple_violates_an_axiom(response, endpoint, change):
    triple = tuple(part.item() for part in route([response], endpoint, EPSILON))
    assume(any(change))
    other = tuple(part + by for part, by in zip(triple, change, strict=True))
    assert not satisfies_axioms(other, response, endpoint, EPSILON)


@given(LATTICE.filter(bool), LATTICE, st.integers(1, 4))
def test_moving_mass_between_components_violates_an_axiom(response, endpoint, quarters):
    # These keep conservation and non-negativity: only the gate and the support can refuse them.
    triple = [part.item() for part in route([response], endpoint, EPSILON)]
    holder, amount = int(np.argmax(triple)), abs(response) * quarters / 4
    for receiver in {0, 1, 2} - {holder}:
        other = triple.copy()
        other[holder] -= amount
        other[receiver] += amount
        assert not satisfies_axioms(other, response, endpoint, EPSILON)


@given(RESPONSES)
def test_the_oriented_response_has_a_jordan_decomposition(response):
    active = response[is_active(response[:, -1], EPSILON)]
    assume(active.size)
    oriented = np.sign(active[:, -1:]) * active
    e, c, _ = route(active, epsilon=EPSILON)
    np.testing.assert_array_equal(e - c, oriented)
    np.testing.assert_array_equal(e + c, np.abs(oriented))
    assert not (e * c).any()
    p = profile(active, NINE, EPSILON)
    net = np.trapezoid(oriented, NINE)
    np.testing.assert_allclose(p.evidence - p.contradiction, net, atol=1e-15)


@given(NUMBERS, NUMBERS.filter(lambda d: abs(d) >= EPSILON))
def test_evidence_and_contradiction_project_on_the_two_rays(response, endpoint):
    # Projection on the ray {s x : x >= 0}: the nearest of its points, over a fine lattice too.
    e, c, _ = (part.item() for part in route([response], endpoint, EPSILON))
    s = np.sign(endpoint)
    ray = np.linspace(0, 1, 2001)
    for length, direction in ((e, s), (c, -s)):
        nearest = np.abs(response - direction * ray).min()
        assert abs(response - direction * length) <= nearest


# Theorem 2: strict refinement of magnitude.


def three_roles(m):
    """Responses of one magnitude that are all evidence, all contradiction and all fragility."""
    return profile(np.array([[m, m], [-m, -m], [m, m]]), [0, 1], EPSILON, [1.0, 1.0, 0.0])


@given(st.floats(1e-3, 1e3))
def test_three_profiles_share_one_magnitude(m):
    p = three_roles(m)
    assert p.abs_response.tolist() == [m, m, m]
    roles = np.stack([getattr(p, name) for name in COMPONENTS], axis=1)
    np.testing.assert_array_equal(roles, m * np.eye(3))


def best_accuracy(observed, roles):
    """Of every rule from what is observed to a role, the share the best one gets right."""
    distinct, which = np.unique(observed, axis=0, return_inverse=True)
    rules = product(range(3), repeat=len(distinct))
    return max(np.mean(np.array(rule)[which.ravel()] == roles) for rule in rules)


@given(st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any))
def test_magnitude_alone_is_right_as_often_as_the_largest_prior(counts):
    roles = np.repeat(np.arange(3), counts)
    p = three_roles(0.5)
    profiles = np.stack([getattr(p, name) for name in COMPONENTS], axis=1)
    assert best_accuracy(p.abs_response[roles], roles) == max(counts) / sum(counts)
    assert best_accuracy(profiles[roles], roles) == 1


def test_magnitude_alone_is_right_for_a_third_of_equally_likely_roles():
    assert best_accuracy(three_roles(0.5).abs_response, np.arange(3)) == 1 / 3


@given(RESPONSES)
def test_a_fully_aligned_response_reduces_to_magnitude(response):
    response = np.abs(response)
    response[:, -1] = 0.5
    p = profile(response, NINE, EPSILON)
    np.testing.assert_array_equal(p.abs_response, p.evidence)
    assert not p.opposed_mass.any()


# Proposition 1: preservation, attenuation and inversion.


@pytest.mark.parametrize("s", [-1, 1])
@given(m=st.floats(0.1, 10), eta=st.floats(0, 1))
def test_preservation_attenuation_and_inversion(s, m, eta):
    altered = s * np.array([[m, m], [m, 0.0], [m, -m]])
    p = profile(altered, None, EPSILON, [s * m] * 3, measure=[1 - eta, eta])
    kept = (1 - eta) * m
    np.testing.assert_allclose(p.evidence, [m, kept, kept], rtol=1e-14)
    np.testing.assert_allclose(p.contradiction, [0, 0, eta * m], rtol=1e-14)
    np.testing.assert_allclose(p.abs_response, [m, kept, m], rtol=1e-14)
    inversion = p.contradiction[2] / (p.evidence[2] + p.contradiction[2])
    assert inversion == pytest.approx(eta, rel=1e-14)


@given(st.integers(0, 20), st.integers(1, 20))
def test_the_same_table_holds_over_a_population(inverted, kept):
    m, count = 0.5, inverted + kept
    response = np.repeat([[m, m], [-m, -m]], [kept, inverted], axis=0)
    p = summarise(profile(response, [0, 1], EPSILON, np.full(count, m)))
    assert p.contradiction / (p.evidence + p.contradiction) == pytest.approx(inverted / count)
    assert p.abs_response == pytest.approx(m)


@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0, 1))
def test_unequal_magnitudes_weigh_the_inversion(aligned, opposed, eta):
    p = profile([[aligned, -opposed]], None, EPSILON, [aligned], measure=[1 - eta, eta])
    np.testing.assert_allclose(p.evidence, (1 - eta) * aligned, rtol=1e-14)
    np.testing.assert_allclose(p.contradiction, eta * opposed, rtol=1e-14)
    share = eta * opposed / ((1 - eta) * aligned + eta * opposed)
    np.testing.assert_allclose(p.contradiction / p.abs_response, share, rtol=1e-13)


# Appendix B.5: population factorisation.


@given(RESPONSES)
def test_population_summaries_factor_into_prevalence_and_intensity(response):
    p = profile(response, NINE, EPSILON)
    s, active = summarise(p), p.is_endpoint_active
    near = partial(pytest.approx, rel=1e-13, abs=1e-15)
    assert s.active_rate == np.mean(active)
    if active.any():
        assert s.active_evidence == near(p.evidence[active].mean())
        assert s.evidence == near(s.active_rate * s.active_evidence)
        assert s.contradiction == near(s.active_rate * s.active_contradiction)
    if not active.all():
        assert s.null_fragility == near(p.fragility[~active].mean())
        assert s.fragility == near((1 - s.active_rate) * s.null_fragility)


# Appendix B.6: invariances.


def invariant(p):
    return p.endpoint_magnitude, p.evidence, p.contradiction, p.fragility, p.abs_response


@given(RESPONSES)
def test_swapping_the_endpoints_changes_nothing(response):
    there, back = profile(response, NINE, EPSILON), profile(-response, NINE, EPSILON)
    np.testing.assert_array_equal(invariant(there), invariant(back))
    np.testing.assert_array_equal(there.sign_flip_frac, back.sign_flip_frac)
    np.testing.assert_array_equal(there.opposed_mass, back.opposed_mass)
    np.testing.assert_array_equal(
        route(response, epsilon=EPSILON), route(-response, epsilon=EPSILON)
    )


@given(SCORES, SCORES, LATTICE)
def test_translating_the_score_leaves_differences_as_they_are(plus, minus, shift):
    here = profile(plus - minus, NINE, EPSILON)
    np.testing.assert_array_equal(here, profile((plus + shift) - (minus + shift), NINE, EPSILON))


@given(SCORES, st.integers(-8, 8), st.sampled_from([1, -1]))
def test_scaling_the_score_and_the_threshold_scales_the_profile(response, power, sign):
    """A negative scale multiplies the components by its magnitude."""
    scale = 2.0**power
    one = profile(response, NINE, EPSILON)
    other = profile(sign * scale * response, NINE, scale * EPSILON)
    np.testing.assert_array_equal(scale * np.array(invariant(one)), invariant(other))
    np.testing.assert_array_equal(one.is_endpoint_active, other.is_endpoint_active)
    np.testing.assert_array_equal(other.endpoint_delta, sign * scale * one.endpoint_delta)


@given(SCORES, st.integers(-8, 8))
def test_scaling_behind_a_fixed_threshold_moves_the_threshold(response, power):
    scale = 2.0**power
    fixed = profile(scale * response, NINE, EPSILON)
    moved = profile(response, NINE, EPSILON / scale)
    for name in COMPONENTS:
        np.testing.assert_array_equal(getattr(fixed, name), scale * getattr(moved, name))


def test_scaling_behind_a_fixed_threshold_can_turn_fragility_into_evidence():
    weak = np.array([[0.0, 0.015]])
    assert profile(weak, [0, 1], 0.02).fragility > 0
    assert profile(2 * weak, [0, 1], 0.02).evidence > 0


# Appendix B.7: reparameterisation of the protocol.


def test_another_pace_with_the_measure_pushed_forward_keeps_the_profile():
    def response(t):
        return np.stack([np.cos(5 * t), t - 0.3, 0.05 * np.sin(9 * t)])

    t = np.linspace(0, 1, 33) ** 2
    there = profile(response(t), t, EPSILON)
    walked = profile(response(t), None, EPSILON, measure=trapezoid_weights(t))
    np.testing.assert_array_equal(there, walked)
    finer = profile(response(np.linspace(0, 1, 4001)), np.linspace(0, 1, 4001), EPSILON)
    np.testing.assert_allclose(invariant(walked), invariant(finer), atol=2e-3)


def test_another_pace_with_the_uniform_measure_changes_the_profile():
    # Integral of t over [0, 1] is 1/2, that of u^2 is 1/3.
    u = np.linspace(0, 1, 1001)
    assert profile([u], u, EPSILON).evidence.item() == pytest.approx(1 / 2)
    assert profile([u**2], u, EPSILON).evidence.item() == pytest.approx(1 / 3, abs=1e-6)


# Appendix B.8: stability of the threshold.


@given(arrays(np.float64, (20, 3), elements=NUMBERS), st.sets(st.integers(1, 100), min_size=2))
def test_a_threshold_moves_no_component_beyond_the_mass_it_crosses(response, cents):
    swept = sweep(integrate(response, [0, 0.5, 1]), [cent / 100 for cent in sorted(cents)])
    for step in swept.steps:
        for change in step[2:5]:
            assert abs(change) <= step.bound + 1e-15


def test_the_threshold_bound_is_reached():
    # One pair of two crosses, and it carries the largest magnitude there is.
    step = sweep(integrate([[0.03, 0.03], [0.0, 0.0]], [0, 1]), [0.02, 0.05]).steps[0]
    assert step.fragility_change == -step.evidence_change == step.bound == 0.015


def test_a_pair_at_the_upper_threshold_does_not_cross_it():
    step = sweep(integrate([[0.05, 0.05], [0.02, 0.02]], [0, 1]), [0.02, 0.05]).steps[0]
    assert step.crossing_rate == 0.5
    assert step.evidence_change == pytest.approx(-0.01)


def test_without_mass_between_thresholds_nothing_changes():
    step = sweep(integrate([[0.0, 0.4], [0.1, 0.001]], [0, 1]), [0.01, 0.05]).steps[0]
    assert step[2:] == (0, 0, 0, 0, 0)
