"""Shapley interaction of one pair of features in a forest, against shap's matrix of all pairs.

Both are exact and path-dependent; times are of the processor. The matrix is of one row and of the
forest's first trees, the time of which is multiplied up to all of them: trees are independent.
Run: python benchmarks/shap_interaction.py configs/covertype/covertype_sample.yaml \
random_forest_invert_p95_s7701 [TREES]
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.evaluation.tree_shapley import forest_shapley
from decaf.plan.study import load_study

ROWS, TREES = 128, 30


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What comes out, and the seconds of the processor that it took."""
    started = time.process_time()
    found = work()
    return found, time.process_time() - started


def measure(
    forest: Any, rows: NDArray[np.float32], context: int, factor: int, trees: int
) -> tuple[float, float, float]:
    """Seconds per row of the pair and of all pairs, and how far the pair's value differs."""
    import shap

    _, pair = timed(lambda: forest_shapley(forest, rows, context, factor))
    grown = forest.estimators_
    trees = min(trees, len(grown))
    forest.estimators_ = grown[:trees]
    value = forest_shapley(forest, rows[:1], context, factor)[0]
    explainer = shap.TreeExplainer(forest, feature_perturbation="tree_path_dependent")
    matrix, all_pairs = timed(lambda: explainer.shap_interaction_values(rows[:1]))
    forest.estimators_ = grown
    difference = abs(np.asarray(matrix)[0, context, factor, 1] - value)
    return pair / len(rows), all_pairs * len(grown) / trees, float(difference)


def main() -> None:
    """Print one row of a table."""
    study, name = load_study(Path(sys.argv[1])), sys.argv[2]
    trees = int(sys.argv[3]) if len(sys.argv) > 3 else TREES
    (card,) = (one for one in study.models if one.id == name)
    forest = card.load("cpu").estimator
    own = study.data.factual_rows(card.training)
    chosen = own.inputs[own.spread(ROWS, np.random.default_rng(7601))]
    pair, all_pairs, difference = measure(forest, chosen, own.context, own.factor, trees)
    print("| forest | the pair, s a row | all pairs, s a row | ratio | values differ by |")
    print("|---|---|---|---|---|")
    ratio = all_pairs / pair
    print(f"| {name} | {pair:.4f} | {all_pairs:.1f} | {ratio:,.0f} | {difference:.1e} |")


if __name__ == "__main__":
    main()
