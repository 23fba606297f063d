"""Fit a classifier of Covertype whose factor helps differently in two contexts (appendix I).

A mechanism is named after the behaviour that the training data attempt to induce; the audit
measures the behaviour of the model.
"""

import time
import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.errors import DataError
from decaf.foundation.settings import LARGEST_SEED, fault
from decaf.models.recipes.base import EstimatorRecipe
from decaf.models.training.estimator import SKOPS
from decaf.studies.covertype.channels import (
    FACTOR,
    DirectionMechanism,
    FragilityMechanism,
    Treatment,
    draw_channels,
    with_channels,
)
from decaf.studies.covertype.classifiers import FAMILIES, Family, make_estimator
from decaf.studies.covertype.splits import CovertypeTable, Split

CONVERGING: tuple[Family, ...] = ("logistic_regression", "mlp")
"""Families whose optimiser ends by itself or is stopped; the others grow trees."""


class CovertypeOutcome(NamedTuple):
    """Outcome of a fit; accuracies are shares of rows, channels drawn as in training."""

    train_accuracy: float
    validation_accuracy: float
    """Accuracy on the whole validation split."""
    training_rows: int
    training_digest: str
    """Digest of the training split without channels: the same for all models of a table."""
    seconds: float
    """Wall-clock time, reading the table and both accuracies included."""
    iterations: int | None
    """Iterations of the optimiser, or of boosting; None for a fixed number of trees."""
    converged: bool | None
    """True if the optimiser converged; None for a family without convergence."""


class CovertypeClassifier(EstimatorRecipe):
    """Recipe of one classifier of cover type 2 against 1, with a context and a factor."""

    recipe: Literal["covertype_classifier"] = Field(description="this recipe")
    table: CovertypeTable = Field(
        description="mapping of `file` and `drawn_per_class`; by default the data's"
    )
    classifier: Family = Field(description="family of the classifier")
    mechanism: DirectionMechanism | FragilityMechanism = Field(
        description="use of the factor under each context ([odds](studies/covertype.md#channels))"
    )
    strength: float | None = Field(
        None,
        ge=0.5,
        le=1.0,
        description="probability that the factor agrees with the label; of `direct`, `gate`, "
        "`invert`",
    )
    seed: int = Field(
        ge=0, le=LARGEST_SEED, description="draws context and factor, and is the classifier's own"
    )
    fitted_per_class: int | None = Field(
        None,
        gt=0,
        le=1_000_000,
        description="number of training rows of each class, the first in the file; all when absent",
    )

    @model_validator(mode="after")
    def _strength_where_it_means_something(self) -> "CovertypeClassifier":
        if (self._treatment.module == "direction") != (self.strength is not None):
            raise fault(
                "'strength' belongs to direct, gate and invert, which need it, and to no other "
                "mechanism"
            )
        return self

    @property
    def origin(self) -> str:
        """Recipe and classifier."""
        return f"{self.recipe}:{self.classifier}"

    @property
    def suffix(self) -> str:
        """Kind of the file: XGBoost's own, or skops."""
        return ".ubj" if self.classifier == "xgboost" else SKOPS

    @property
    def trusted_types(self) -> tuple[str, ...]:
        """Types that such a file holds."""
        return tuple(FAMILIES[self.classifier].get("trusted", ()))

    def fit(self) -> tuple[Any, CovertypeOutcome]:
        """Draw the channels, fit, and measure accuracy.

        Raises DataError when the table cannot be used, or has too few rows.
        """
        started = time.perf_counter()
        inputs, label = self.rows("train", self.fitted_per_class)
        estimator, has_converged = self._fit_estimator(inputs, label)
        outcome = CovertypeOutcome(
            train_accuracy=float(estimator.score(inputs, label)),
            validation_accuracy=float(estimator.score(*self.rows("validation"))),
            training_rows=len(label),
            training_digest=self.table.part("train").digest,
            seconds=time.perf_counter() - started,
            iterations=_iterations(estimator),
            converged=has_converged if self.classifier in CONVERGING else None,
        )
        return estimator, outcome

    def fit_without_factor(self) -> Any:
        """Fit on the same rows without the column of the factor; nothing is kept."""
        inputs, label = self.rows("train", self.fitted_per_class)
        return self._fit_estimator(np.delete(inputs, FACTOR, axis=1), label)[0]

    def rows(
        self, split: Split, per_class: int | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """(n, 56) inputs with this model's channels, and (n,) labels, of a split.

        Channels are drawn for the whole split, so the first rows have the same ones in any number.
        """
        part = self.table.part(split)
        channels = draw_channels(self._treatment, self.seed, split, part.label)
        places = part.lowest(per_class)
        return with_channels(part.features, channels)[places], part.label[places]

    def _fit_estimator(
        self, inputs: NDArray[np.float32], label: NDArray[np.int64]
    ) -> tuple[Any, bool]:
        """The estimator, and whether it did not say that it has not converged."""
        from sklearn.exceptions import ConvergenceWarning

        fewest = FAMILIES[self.classifier].get("fewest_rows", 1)
        counts = np.bincount(label, minlength=2)
        if counts.min() < fewest:
            raise DataError(
                f"{self.classifier} is to be fitted on {counts[0]} rows of cover type 1 and "
                f"{counts[1]} of type 2, and needs {fewest} of each; raise 'fitted_per_class' or "
                "'drawn_per_class', three fifths of which are for training"
            )
        estimator = make_estimator(self.classifier, self.seed)
        # The number of iterations is part of the protocol: not to converge is no error.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            estimator.fit(inputs, label)
        other_warnings = [
            each for each in caught if not issubclass(each.category, ConvergenceWarning)
        ]
        for each in other_warnings:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        return estimator, len(other_warnings) == len(caught)

    @property
    def _treatment(self) -> Treatment:
        return Treatment(self.mechanism, self.strength)


def _iterations(estimator: Any) -> int | None:
    """Iterations of a fit (``n_iter_``); the largest if the estimator has one for each class."""
    count = getattr(estimator, "n_iter_", None)
    return None if count is None else int(np.max(count))
