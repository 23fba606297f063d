"""Columns that several tables of the report share, and the precision of its scores."""

from warehouse.report.audit.facts import Facts
from warehouse.report.cells import Column, score_decimals

METRIC_COLUMNS = {
    "endpoint_magnitude": Column(
        "M", "score", "Size of the final difference |d|, mean over pairs, score units"
    ),
    "evidence": Column(
        "E", "score", "Evidence: response that agrees with the final difference", True, "evidence"
    ),
    "contradiction": Column(
        "C",
        "score",
        "Contradiction: response that opposes the final difference",
        True,
        "contradiction",
    ),
    "fragility": Column(
        "F", "score", "Fragility: response on pairs without a final difference", True, "fragility"
    ),
    "abs_response": Column("Abs", "score", "Whole response: E + C + F", True, "abs_response"),
}
MODEL = Column("Model", is_number=False)
PAIR_TYPE = Column("Pair type", meaning="Which change makes the counterfactual", is_number=False)
PATH = Column("Path", meaning="How the input is revealed", is_number=False)
ACTIVE = Column("Active", "of pairs", "Share of pairs whose final difference reaches ε")
PAIRS = Column("Pairs", "count", "Pairs that were scored")


def decimals_of(facts: Facts) -> int:
    """Decimals that all scores of the report are written with."""
    return score_decimals(
        value for row in facts.profiles for value in (row.endpoint_magnitude, row.abs_response)
    )
