"""A user's own functions that are in no state to be audited, each in its own way."""

import ctypes
import os
import sys
import time
import warnings

import numpy as np

from decaf.scoring.consistency import PROBES


def good(batch):
    """Probability that an image is bright, and that it is dark."""
    level = batch.mean(axis=(1, 2, 3))
    return np.stack([level, 1 - level], axis=1)


def recurses(batch):
    return recurses(batch)


def recurses_in_c(batch):
    nested = []
    for _ in range(100_000):
        nested = [nested]
    return repr(nested)


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no words")

    def __reduce__(self):
        raise RuntimeError("no trip")


class Nobody(BaseException):
    pass


class Foreign(Exception):
    """Cannot be made again where it arrives."""

    def __init__(self, one, other):
        super().__init__(f"{one} and {other}")


def mute(batch):
    raise Mute


def long_winded(batch):
    raise ValueError("x" * 10_000_000)


def foreign(batch):
    raise Foreign(1, 2)


def chained(batch):
    try:
        raise Mute
    except Mute as error:
        raise LookupError("after another") from error


def grouped(batch):
    raise ExceptionGroup("several", [Mute(), ValueError("two")])


def exits(batch):
    sys.exit(0)


def interrupts(batch):
    raise KeyboardInterrupt


def stops_generators(batch):
    raise GeneratorExit


def stops_iteration(batch):
    raise StopIteration


def base(batch):
    raise Nobody("of no kind")


def warns(batch):
    warnings.warn("of little use", stacklevel=1)
    raise UserWarning("raised")


def ends_its_process(batch):
    os._exit(3)


def ends_well(batch):
    os._exit(0)


def segfaults(batch):
    ctypes.string_at(0)


def aborts(batch):
    os.abort()


def ends_later(batch):
    if is_of_a_block(batch):
        os._exit(3)
    return good(batch)


def is_of_a_block(batch):
    """True if a batch has more different inputs than a batch of the trial."""
    return len(np.unique(batch.reshape(len(batch), -1), axis=0)) > PROBES


def hangs(batch):
    time.sleep(1000)


def hangs_in_c(batch):
    """Gives the interpreter to no other thread, as a library does that is wrong."""
    ctypes.PyDLL(None).sleep(1000)


def hangs_when_made():
    time.sleep(1000)


def exits_when_made():
    sys.exit(1)


def prints(batch):
    sys.stdout.write("a word of Python " * 100_000)
    sys.stderr.write("\x1b[2J a word of error\n")
    os.system("echo a word of another process")
    return good(batch)


def nan(batch):
    return good(batch) * np.nan


def infinite(batch):
    return good(batch) * 0 + [1, -1] * np.array(np.inf)


def nan_above(red):
    """NaN where the wall is redder."""
    return lambda batch: np.where(batch[:, :1, 0, 0] > red, np.nan, good(batch))


def no_rows(batch):
    return good(batch)[:0]


def one_row_less(batch):
    return good(batch)[1:] if is_of_a_block(batch) else good(batch)


def three_classes(batch):
    return np.repeat(good(batch), 2, axis=1)[:, :3]


def four_axes(batch):
    return batch


def a_number(batch):
    return 0.5


def nothing(batch):
    return None


def ragged(batch):
    return [[0.5], *([[0.5, 0.5]] * len(batch))]


def mixed(batch):
    return [["0.5", 0.5]] * len(batch)


def of_dicts(batch):
    return [{"yes": 0.5}] * len(batch)


def complex_numbers(batch):
    return good(batch) + 1j


def truths(batch):
    return good(batch) > 0.5


def dates(batch):
    return good(batch).astype("datetime64[s]")


def masked(batch):
    return np.ma.masked_greater(good(batch), 0)


def huge_numbers(batch):
    return np.full((len(batch), 2), 2**53 + 1)


def percent(batch):
    return 100 * good(batch)


def refuses(batch):
    raise ValueError("these inputs are not for me")
