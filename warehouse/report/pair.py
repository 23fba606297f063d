"""One pair as reports draw those that they show: inputs, states and curve."""

from collections import namedtuple
from collections.abc import Mapping

import numpy as np

from warehouse.report.audit.pairs import Looks, card_of, is_of_probability
from warehouse.report.svg import COLOURS
from warehouse.report.templates import render


def pair_card(columns: Mapping[str, object]) -> str:
    """HTML of a row of the query ``view/pair``.

    The curve of a probability goes from -1 to 1, another one to its own largest value.
    """
    row = namedtuple("Row", columns)(**columns)
    largest = np.abs(np.subtract(row.q_plus, row.q_minus)).max()
    scale = 1.0 if is_of_probability(row.score) or largest == 0 else float(largest)
    card = card_of(row, row.epsilon, scale, "")
    looks = Looks((), f"{scale:.3g}", "", "")
    return render("pair.html.j2", card=card, looks=looks, colours=COLOURS).decode()
