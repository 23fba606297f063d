"""Normalise printed text, to compare it with a page or a notebook."""

import re

import pytest

CHANGING = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d)?|\b[0-9a-f]{12}\b")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def words_and_numbers(text):
    """Text without numbers, and the numbers; ignores spacing, moments and digests."""
    text = CHANGING.sub("", text)
    words = re.sub(r"[\s─━┃│]+", " ", NUMBER.sub("#", text))
    return words, [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def check_alike(found, stored):
    """The same words, and numbers that differ as processors do."""
    assert len(found) == len(stored) >= 3
    for one, other in zip(found, stored, strict=True):
        (words, numbers), (stored_words, stored_numbers) = map(words_and_numbers, (one, other))
        assert words == stored_words
        assert numbers == pytest.approx(stored_numbers, rel=0.05, abs=0.002)
