"""When scoring may stop: what can be asked for, and between which blocks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from decaf.errors import SettingError
from decaf.plan.stopping import Stop

GATES, WIDTH = {"when": "gates_decided"}, {"when": "interval", "metric": "evidence"}


def stop(**keys):
    return Stop(**(GATES | keys))


@pytest.mark.parametrize(
    ("at_least", "at_most", "blocks", "span"),
    [
        ("2 blocks", "100 %", 12, (2, 12)),
        ("1 block", "1 block", 1, (1, 1)),
        ("10 %", "50 %", 12, (2, 6)),  # 1.2 blocks and 6
        ("0.1%", "99.9 %", 10, (1, 10)),
        ("3 blocks", "500 blocks", 12, (3, 12)),
        ("100 %", "100 %", 7, (7, 7)),
    ],
)
def test_blocks_of_the_first_look_and_of_the_last(at_least, at_most, blocks, span):
    assert stop(at_least=at_least, at_most=at_most).span(blocks) == span


@given(st.integers(1, 10_000), st.integers(1, 100), st.integers(1, 100))
def test_a_look_is_at_one_block_at_least_and_at_all_at_most(blocks, low, high):
    low, high = sorted((low, high))
    first, last = stop(at_least=f"{low} %", at_most=f"{high} %").span(blocks)
    assert 1 <= first <= last <= blocks
    assert (first - 1) * 100 < low * blocks <= first * 100
    assert stop().to_the_end().span(blocks) == (blocks, blocks)


@pytest.mark.parametrize(
    ("keys", "blocks", "said"),
    [
        ({"at_least": "3 blocks"}, 2, "'3 blocks', .* 2 blocks"),
        ({"at_most": "1 block"}, 9, "'1 block' .1 of 9 blocks.*'2 blocks'"),
        ({"at_least": "60 %", "at_most": "50 %"}, 10, "5 of 10 blocks.*'60 %' .6 blocks"),
    ],
)
def test_a_study_that_has_too_few_blocks(keys, blocks, said):
    with pytest.raises(SettingError, match=said) as refused:
        stop(**keys).span(blocks)
    assert refused.value.keys[0] == "stop"


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"error": 0}, "greater than 0"),
        ({"error": 1}, "less than 1"),
        ({"at_least": "two blocks"}, "two blocks"),
        ({"at_least": "0 blocks"}, "it is '0 blocks'"),
        ({"at_most": "0 %"}, "it is '0 %'"),
        ({"at_most": "101 %"}, "it is '101 %'"),
        ({"metric": "evidence"}, "'metric' .* 'when: interval'"),
        ({"half_width": 0.1}, "'half_width' .* 'when: interval'"),
        (WIDTH, "'when: interval' needs 'half_width'"),
        ({"when": "interval", "half_width": 0.1}, "'when: interval' needs 'metric'"),
        (WIDTH | {"half_width": 0}, "greater than 0"),
        ({"metric": "evidenc"}, "'evidenc'; .* 'evidence'"),
        ({"bounds": (1, 0)}, r"\[1.0, 0.0\]"),
        ({"bounds": (0, 0)}, r"\[0.0, 0.0\]"),
        ({"bounds": (0, float("inf"))}, "finite"),
        ({"every": 0}, "greater than 0"),
        ({"when": "bored"}, "'gates_decided' or 'interval'"),
    ],
)
def test_what_cannot_be_meant(keys, said):
    with pytest.raises(ValidationError, match=said):
        stop(**keys)
