import numpy as np
import pytest

from decaf.errors import ResponseError
from decaf.routing.integrals import integrate
from decaf.routing.population import summarise
from decaf.routing.profiles import profile
from decaf.routing.thresholds import sweep


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
