"""The remark on numbers that mark missing values, if cards of XGBoost do not state the number."""

from collections.abc import Sequence
from dataclasses import replace

from decaf.data.column_remarks import MARKS
from decaf.data.pairs import PairSet
from decaf.models.card import ModelCard
from decaf.models.sources.estimator import XGBOOST


def drop_stated_marks(pairs: PairSet, cards: Sequence[ModelCard]) -> PairSet:
    """Leave the remark on marks out where each card of XGBoost states which number is missing."""
    stated = [getattr(card, "missing", None) is not None for card in cards if _is_xgboost(card)]
    if not stated or not all(stated):
        return pairs
    remarks = tuple(remark for remark in pairs.remarks if not remark.startswith(MARKS))
    return replace(pairs, remarks=remarks)


def _is_xgboost(card: ModelCard) -> bool:
    """Check the file of an estimator; a card with ``missing`` is one of XGBoost."""
    file = getattr(card, "file", None)
    return getattr(card, "missing", None) is not None or getattr(file, "suffix", "") in XGBOOST
