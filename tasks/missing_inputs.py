"""Check that a run has all its inputs before it begins."""

import os
from collections.abc import Sequence
from functools import partial

import numpy as np

from decaf.data.pairs import PairSet
from decaf.errors import BadInput
from decaf.foundation.extras import Installed
from decaf.foundation.readiness import Check, run_checks
from decaf.models.card import ModelCard
from decaf.plan.study import Study
from tasks.input_shape import check_shape
from tasks.units.scope import Scope


def check_inputs(scope: Scope, cards: Sequence[ModelCard]) -> list[str]:
    """Check all inputs of a run except its pairs; returns remarks on unused inputs.

    A model that waits for its training needs the inputs of its recipe, other models their weights.
    Raises BadInput, which names all missing or unusable inputs.
    """

    def check_foregrounds() -> tuple[str, ...]:
        return () if scope.foregrounds is None else scope.foregrounds.remarks

    def check_paths() -> tuple[str, ...]:
        _ = scope.blocks_by_path
        return check_shape(scope, cards)

    def check_classes() -> tuple[str, ...]:
        study.score.columns(np.unique(scope.pairs.pairs.class_ids))
        return ()

    study = scope.study
    checks = [("score", check_classes), *_checks_without_pairs(study, cards)]
    checks += [(card.id, partial(card.remark_columns, scope.pairs.columns)) for card in cards]
    return run_checks([*checks, ("paths", check_paths), ("labels", check_foregrounds)])


def read_pairs(study: Study) -> PairSet:
    """Read the pairs of a study, without their inputs.

    If its data cannot be used, raises the error of the data, or, if more is missing, BadInput that
    names all missing files, folders, weights and packages.
    """
    try:
        return study.pair_set()
    except BadInput as error:
        data_error = error
    absent = [place for place in study.data.needed_places() if not os.access(place, os.F_OK)]
    unnamed = [
        place
        for place in absent
        if str(place) not in str(data_error) and not set(place.parents) & set(absent)
    ]
    errors = [BadInput(f"{place} is missing") for place in unnamed]
    checks = [("data", partial(_raise, error)) for error in errors]
    try:
        run_checks([*checks, *_checks_without_pairs(study, study.models)])
    except BadInput as error:
        raise BadInput(f"{data_error}\n{error}") from None
    raise data_error


def _raise(error: BadInput) -> tuple[str, ...]:
    raise error


def _checks_without_pairs(study: Study, cards: Sequence[ModelCard]) -> list[tuple[str, Check]]:
    """Checks of scores, weights and packages, each with the name of the model or method."""
    checks = [("score", check) for check in study.score.checks()]
    checks += [(card.id, check) for card in cards for check in card.checks()]
    own_scores = ((name, method.own_score) for name, method in study.attributions.items())
    checks += [(name, check) for name, score in own_scores if score for check in score.checks()]
    methods = {**study.attributions, **study.baselines}.items()
    return checks + [
        (name, Installed(library)) for name, method in methods for library in method.libraries
    ]
