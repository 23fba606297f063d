"""Check that a run has all its inputs before it begins."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from decaf.foundation.extras import Installed
from decaf.foundation.readiness import carry_out
from decaf.models.card import ModelCard
from tasks.input_shape import check_shape
from tasks.units.scope import Scope


def missing_inputs(scope: Scope, cards: Sequence[ModelCard]) -> list[str]:
    """Check all inputs of a run except its pairs; returns remarks on unused ones.

    A model that waits for its training needs the inputs of its recipe, other models their weights.
    Raises BadInput, which names all missing or unusable inputs.
    """

    def find_foregrounds() -> tuple[str, ...]:
        return () if scope.foregrounds is None else scope.foregrounds.remarks

    def paths_fit() -> tuple[str, ...]:
        _ = scope.of_paths
        return check_shape(scope, cards)

    def classes_are_scored() -> tuple[str, ...]:
        study.score.columns(np.unique(scope.pairs.pairs.class_ids))
        return ()

    study = scope.study
    checks = [("score", check) for check in (*study.score.checks(), classes_are_scored)]
    checks += [(card.id, check) for card in cards for check in card.checks()]
    checks += [(card.id, partial(card.remark_columns, scope.pairs.columns)) for card in cards]
    own_scores = ((name, method.own_score) for name, method in study.attributions.items())
    checks += [(name, check) for name, score in own_scores if score for check in score.checks()]
    methods = {**study.attributions, **study.baselines}.items()
    checks += [
        (name, Installed(library)) for name, method in methods for library in method.libraries
    ]
    return carry_out([*checks, ("paths", paths_fit), ("labels", find_foregrounds)])
