"""Contracts of baselines, tried on a small table with a context and a factor."""

import numpy as np

from decaf.contracts.base import Trial, require, same_twice
from decaf.data.factual import FactualRows
from decaf.evaluation.baselines.base import Component, CountedProbability, Subject

ROWS, NATURAL = 64, 2
CONTEXT, FACTOR = 2, 3


def gives_every_component(trial: Trial) -> None:
    """measure() gives each of `components` a finite score, or none and the reason."""
    names = trial.member.components
    require(names, "'components' is empty; name the numbers that the method gives")
    components = trial.member.measure(_subject())
    require(
        set(components) == set(names),
        f"measure() gave {sorted(components)}; 'components' are {sorted(names)}",
    )
    for name, component in components.items():
        require(
            isinstance(component, Component),
            f"{name} is {type(component).__name__}; expected a Component",
        )
        require(
            component.score is not None or component.reason,
            f"{name} has neither a score nor a reason; raise Undefined with the reason",
        )


def gives_the_same_twice(trial: Trial) -> None:
    """Scores are the same each time; draws have a seed that is a setting."""
    same_twice(
        lambda: trial.member.measure(_subject()),
        "scores differ when they are made again; draw from self.seed",
    )


def leaves_the_rows_as_they_are(trial: Trial) -> None:
    """The audited rows are not changed."""
    subject = _subject()
    trial.member.measure(subject)
    require(
        np.array_equal(_subject().rows.inputs, subject.rows.inputs),
        "the rows were changed in place; change a copy, as rows.at(context, factor) gives it",
    )


def is_known_by_its_settings(trial: Trial) -> None:
    """Its identity does not depend on which models it explains."""
    copy = trial.member.model_copy(update={"models": ("nothing*",)})
    require(
        copy.identity == trial.member.identity,
        "'identity' depends on 'models'; take the base's, or leave models and families out",
    )


def _subject() -> Subject:
    from sklearn.linear_model import LogisticRegression

    random = np.random.default_rng(0)
    inputs = random.standard_normal((ROWS, NATURAL + 2)).astype(np.float32)
    inputs[:, [CONTEXT, FACTOR]] = random.choice([-1, 1], (ROWS, 2))
    label = (inputs[:, 0] + inputs[:, FACTOR] > 0).astype(np.int64)
    model = LogisticRegression().fit(inputs, label)
    without = np.delete(inputs, FACTOR, axis=1)
    return Subject(
        CountedProbability(lambda rows: model.predict_proba(rows)[:, 1], ROWS),
        FactualRows(inputs, label, CONTEXT, FACTOR),
        model,
        lambda: LogisticRegression().fit(without, label),
    )
