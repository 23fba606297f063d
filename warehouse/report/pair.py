"""One pair of a warehouse as the card that reports draw of it."""

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

import numpy as np

from warehouse.report.audit.pairs import Card, card_of, is_of_probability


def card_of_pair(columns: Mapping[str, Any], scale: float) -> Card:
    """Card of a row of the query ``view/pair``; ``scale`` is the response at its top."""
    row = namedtuple("Row", columns)(**columns)
    return card_of(row, row.epsilon, scale, "")


def scale_of_pair(columns: Mapping[str, Any]) -> float:
    """Response at the top of a pair's curve: 1 of a probability, otherwise its own largest."""
    largest = float(np.abs(np.subtract(columns["q_plus"], columns["q_minus"])).max())
    return 1.0 if is_of_probability(columns["score"]) or largest == 0 else largest
