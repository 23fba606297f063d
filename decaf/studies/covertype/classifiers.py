"""The five families of classifiers, as ``classifiers.toml`` has them."""

import pkgutil
import tomllib
from pathlib import Path
from typing import Any, Literal

Family = Literal["logistic_regression", "random_forest", "hist_gradient_boosting", "xgboost", "mlp"]

FAMILIES: dict[Family, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)  # type: ignore[assignment]  # TOML has texts as keys


def make_estimator(family: Family, seed: int) -> Any:
    """A classifier that runs on one core and whose every random choice the seed decides."""
    settings = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in FAMILIES[family]["settings"].items()
    }
    return pkgutil.resolve_name(FAMILIES[family]["class"])(random_state=seed, **settings)
