import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decaf.evaluation.matching import match_cases

E, C, F = [1, 0, 0], [0, 1, 0], [0, 0, 1]
NONE, BOTH = [0, 0, 0], [1, 1, 0]

UNITS = st.lists(
    st.tuples(
        st.integers(0, 30).map(lambda n: n / 16),
        st.tuples(*[st.integers(0, 1)] * 3),
        st.sampled_from("abc"),
    ),
    max_size=25,
    min_size=1,
)


def columns(units):
    magnitude, labels, groups = zip(*units, strict=True)
    return np.array(magnitude), np.array(labels), np.array(groups)


def matched(magnitude, labels, **options):
    return match_cases(magnitude, labels, [np.arange(len(labels))], **options).tolist()


def every_pair_compared(magnitude, labels, groups, tolerance):
    """The definition, with every following unit looked at."""
    pool = [unit for unit in range(len(labels)) if labels[unit].any()]
    pool.sort(key=lambda unit: (magnitude[unit], groups[unit], unit))
    used, pairs = set(), []
    for place, one in enumerate(pool):
        if one in used:
            continue
        for other in pool[place + 1 :]:
            a, b = magnitude[one], magnitude[other]
            near = b == 0 or (b - a) / b <= tolerance
            differs = (labels[one] != labels[other]).any()
            if near and differs and other not in used:
                used |= {one, other}
                pairs.append([one, other])
                break
    return pairs


BY_HAND = {
    "the nearest of another pattern": ([1, 1.01, 1.02, 1.04], [E, E, C, F], {}, [[0, 2], [1, 3]]),
    "a used unit is not used again": ([1, 1.01, 1.02], [E, C, E], {}, [[0, 1]]),
    "without a partner": ([1, 2, 2.02], [E, C, E], {}, [[1, 2]]),
    "relative to the larger, inclusive": ([3, 4], [E, C], {"tolerance": 0.25}, [[0, 1]]),
    "just too far": ([2.999, 4], [E, C], {"tolerance": 0.25}, []),
    "1 - 0.95 is above 0.05 in float64": ([0.95, 1], [E, C], {}, []),
    "zero matches zero": ([0, 0, 0.001], [E, C, F], {"tolerance": 0}, [[0, 1]]),
    "and nothing else": ([0, 0.001], [E, C], {}, []),
    "a unit without a label stays out": ([1, 1.01, 1.02], [E, NONE, C], {}, [[0, 2]]),
    "two without a label": ([1, 1], [NONE, NONE], {}, []),
    "overlapping labels are a pattern": ([1, 1, 1], [BOTH, BOTH, E], {}, [[0, 2]]),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name):
    magnitude, labels, options, pairs = BY_HAND[name]
    assert matched(magnitude, labels, **options) == pairs


def test_equal_magnitudes_follow_their_identities():
    models, pairs = ["b", "a", "a", "b"], ["1", "2", "1", "1"]
    labels = [C, E, F, E]
    # Sorted: a 1 (F), a 2 (E), b 1 (C), b 1 (E).
    assert match_cases([1.0] * 4, labels, (models, pairs)).tolist() == [[2, 1], [0, 3]]


@given(UNITS, st.sampled_from([0, 0.05, 0.2]))
def test_equals_every_pair_compared(units, tolerance):
    magnitude, labels, groups = columns(units)
    pairs = match_cases(magnitude, labels, (groups, np.arange(groups.size)), tolerance)
    assert pairs.tolist() == every_pair_compared(magnitude, labels, groups, tolerance)


@given(UNITS)
def test_pairs_are_what_they_promise(units):
    magnitude, labels, groups = columns(units)
    pairs = match_cases(magnitude, labels, [np.arange(groups.size)])
    one, other = pairs.T
    assert np.unique(pairs).size == pairs.size
    assert labels[pairs].any(axis=2).all()
    assert (labels[one] != labels[other]).any(axis=1).all()
    assert (magnitude[other] - magnitude[one] <= 0.05 * magnitude[other] + 1e-12).all()
    assert (magnitude[one] <= magnitude[other]).all()


@settings(max_examples=40)
@given(UNITS, st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(units, random):
    magnitude, labels, groups = columns(units)
    names = np.arange(groups.size)
    order = np.array(random.sample(range(names.size), names.size))
    one = match_cases(magnitude, labels, (groups, names))
    other = match_cases(magnitude[order], labels[order], (groups[order], names[order]))
    np.testing.assert_array_equal(order[other], one)
