"""How many rows go through a model at once, by hand."""

import numpy as np
import pytest

from decaf.errors import ScoringFailed
from decaf.scoring.batches import (
    BatchWarning,
    Call,
    FixedLimit,
    GrowingLimit,
    TimedScorer,
    choose_batch,
    growing_sizes,
    largest_batch,
)

PHOTO = 224 * 224 * 3 * 4


@pytest.mark.parametrize(
    ("row_bytes", "is_on_gpu", "rows"),
    [
        (54 * 4, False, 16_384),  # a row of a table
        (28 * 28 * 4, False, 2048),  # 8 MiB / 3,136 = 2,674
        (32 * 32 * 3 * 4, False, 512),  # 8 MiB / 12,288 = 682
        (PHOTO, False, 64),
        (PHOTO, True, 512),  # 512 MiB / 602,112 = 891
        (0, False, 16_384),
        (2**40, True, 64),
    ],
)
def test_a_batch_is_bounded_by_its_bytes(row_bytes, is_on_gpu, rows):
    assert largest_batch(row_bytes, is_on_gpu=is_on_gpu) == rows


@pytest.mark.parametrize(
    ("most", "sizes"),
    [(16_384, [64, 1024, 16_384]), (64, [64]), (10, [10]), (65, [64, 65]), (1024, [64, 1024])],
)
def test_sizes_grow_up_to_the_bound(most, sizes):
    assert list(growing_sizes(most)) == sizes


def test_the_largest_batch_is_chosen_unless_it_is_slower_for_each_row():
    small, middle, large = Call(64, 0.064), Call(1024, 0.1), Call(16_384, 1.8)
    assert choose_batch([small, middle, large]) == large  # 1.1e-4 against 9.8e-5: within a quarter
    assert choose_batch([small, middle, Call(16_384, 3.0)]) == middle  # 1.8e-4 against 9.8e-5
    assert choose_batch([small]) == small


def test_a_limit_grows_after_short_calls_of_nearly_as_many_rows():
    limit = GrowingLimit(16_384)
    rows = [limit.rows]
    for call in (Call(64, 0.01), Call(100, 0.01), Call(1000, 0.3), Call(1000, 0.2)):
        limit.grow(call)
        rows.append(limit.rows)
    assert rows == [64, 1024, 1024, 1024, 16_384]


def test_a_limit_that_was_halved_grows_no_more():
    limit = GrowingLimit(4096)
    limit.grow(Call(64, 0.0))
    with pytest.warns(BatchWarning, match="1024 rows does not fit"):
        limit.halve(1024, MemoryError())
    limit.grow(Call(512, 0.0))
    assert limit.rows == 512
    with pytest.raises(ScoringFailed):
        limit.halve(1, MemoryError())


def test_a_fixed_limit_does_not_grow():
    limit = FixedLimit(61)
    limit.grow(Call(61, 0.0))
    assert limit.rows == 61


def test_a_timed_scorer_knows_its_largest_call():
    timed = TimedScorer(lambda rows: rows[:, None] * 2.0)
    for count in (1, 5, 5, 3):
        assert timed(np.arange(count)).shape == (count, 1)
    assert timed.largest == min(timed.calls[1:3], key=lambda call: call.seconds)
    assert timed.largest.rows == 5
    assert timed.largest.seconds > 0


@pytest.mark.parametrize(
    ("seconds", "is_long"),
    [
        ([0.0, 0.0, 0.2], False),
        ([0.0, 0.0, 0.3], True),
        ([0.5, 0.4, 0.6], False),  # 0.4 s is what any call takes, and 64 rows add 0.2 s
        ([0.5, 0.4, 0.7], True),
    ],
)
def test_seconds_of_any_call_do_not_make_a_batch_long(seconds, is_long):
    timed = TimedScorer(lambda rows: rows)
    timed.calls = list(map(Call, [1, 1, 64], seconds))
    assert timed.is_long == is_long


def test_a_single_call_is_long_by_its_own_seconds():
    timed = TimedScorer(lambda rows: rows)
    timed.calls = [Call(64, 0.3)]
    assert timed.is_long
