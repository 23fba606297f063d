"""Exact Shapley values and interactions in forests, of one feature or two at a time.

The game is that of path-dependent TreeSHAP (Lundberg et al., Nature Machine Intelligence 2, 2020):
a row follows a split on a known feature; at a split on an unknown feature both branches count,
weighted by the share of training rows that took them. A leaf of value v whose path tests the
features P is then worth ``v prod_k (1_k if k is known else w_k)``: 1_k says whether the row agrees
with all tests of k, and w_k is the product of the shares of their branches. With Shapley's weights
this gives

    phi_i  = v (1_i - w_i) int_0^1 prod_{k in P - i} (t 1_k + (1 - t) w_k) dt,
    phi_ij = v / 2 (1_i - w_i) (1_j - w_j) int_0^1 prod_{k in P - i - j} (t 1_k + (1 - t) w_k) dt,

integrals of polynomials, which Gauss-Legendre nodes give exactly. Each tree is walked once per row,
with the products computed on the way down; branches whose leaves test only other features are
skipped. TreeSHAP of all features takes seconds for each row of a deep forest, and their
interactions minutes.

Importing this module imports numba and compiles: import it where it is used.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
LEAF = -1
"""Child of a leaf in scikit-learn's trees."""


def forest_shapley(
    forest: Any, rows: NDArray[np.float32], feature: int, other: int | None = None
) -> NDArray[np.float64]:
    """(n,) Shapley values of a feature in P(y = 1), or interaction values of two features.

    The forest is a fitted random forest or extra trees of scikit-learn with two classes, the rows
    (n, p) float32. With a second feature each value is half of the pair's Shapley interaction
    index, as TreeSHAP has it off the diagonal of its matrices. Values are float64, probability, and
    0 where no tree tests the features.
    """
    pair = (feature, feature if other is None else other)
    inputs = np.ascontiguousarray(rows, np.float32)
    shapley_values = np.zeros(len(rows))
    for fitted in forest.estimators_:
        tree = fitted.tree_
        left_children, right_children = (
            tree.children_left.astype(np.int64),
            tree.children_right.astype(np.int64),
        )
        tested = tree.feature.astype(np.int64)
        threshold, cover = tree.threshold.copy(), tree.weighted_n_node_samples
        parent, depth, most = _shape(left_children, right_children, tested, inputs.shape[1])
        value = tree.value[:, 0, 1] / tree.value[:, 0].sum(axis=1)
        share = np.where(parent < 0, 1.0, cover / cover[parent])
        below = np.stack(
            [
                _tested_below(left_children, right_children, parent, tested == feature_id)
                for feature_id in pair
            ]
        )
        # n nodes are exact up to degree 2 n - 1; the degree is at most that of the longest path.
        nodes, weights = np.polynomial.legendre.leggauss(most // 2 + 1)
        shapley_values += _explain(
            *(left_children, right_children, parent, depth, tested, threshold, value, share, below),
            *(inputs, np.array(pair), (nodes + 1) / 2, weights / 2),
        )
    return shapley_values / len(forest.estimators_) / (1 if other is None else 2)


@numba.njit("Tuple((i8[::1], i8[::1], i8))(i8[::1], i8[::1], i8[::1], i8)")
def _shape(left: Ints, right: Ints, tested: Ints, feature_count: int) -> tuple[Ints, Ints, int]:
    """Parent and depth of every node, and the most features on any path."""
    parent, depth = np.full(left.size, -1), np.zeros(left.size, np.int64)
    distinct, most = np.zeros(left.size, np.int64), 0
    # Children have larger numbers than their parent in every tree.
    for node in range(left.size):
        if left[node] == LEAF:
            most = max(most, distinct[node])
            continue
        is_new, above = 1, parent[node]
        while above >= 0:
            if tested[above] == tested[node]:
                is_new = 0
                break
            above = parent[above]
        for child in (left[node], right[node]):
            parent[child], depth[child] = node, depth[node] + 1
            distinct[child] = distinct[node] + is_new
    return parent, depth, most


@numba.njit("b1[::1](i8[::1], i8[::1], i8[::1], b1[::1])")
def _tested_below(left: Ints, right: Ints, parent: Ints, is_tested: Bools) -> Bools:
    """True where a node or a node below it tests a feature."""
    is_below = is_tested & (left != LEAF)
    for node in range(left.size - 1, 0, -1):
        is_below[parent[node]] |= is_below[node]
    return is_below


@numba.njit(
    "f8[::1](i8[::1], i8[::1], i8[::1], i8[::1], i8[::1], f8[::1], f8[::1], f8[::1], b1[:, ::1],"
    " f4[:, ::1], i8[::1], f8[::1], f8[::1])",
    error_model="numpy",
)
def _explain(
    left: Ints,
    right: Ints,
    parent: Ints,
    depth: Ints,
    tested: Ints,
    threshold: Floats,
    value: Floats,
    share: Floats,
    below: Bools,
    rows: NDArray[np.float32],
    pair: Ints,
    nodes: Floats,
    weights: Floats,
) -> Floats:
    """Sum over the leaves of one tree, for every row; see the module's formulae."""
    first, second = pair
    deepest = depth.max() + 1
    product = np.ones((deepest + 1, nodes.size))
    agrees, weight = np.ones(rows.shape[1]), np.ones(rows.shape[1])
    kept_feature = np.zeros(deepest + 1, np.int64)
    kept_agrees, kept_weight = np.zeros(deepest + 1), np.zeros(deepest + 1)
    stack = np.zeros(2 * deepest + 2, np.int64)
    shapley_values = np.zeros(len(rows))
    for row in range(len(rows)):
        agrees[:], weight[:] = 1.0, 1.0
        reached, waiting, stack[0] = 0, 1, 0
        while waiting:
            waiting -= 1
            node = stack[waiting]
            level = depth[node]
            while reached >= max(level, 1):  # back to the parent
                agrees[kept_feature[reached]] = kept_agrees[reached]
                weight[kept_feature[reached]] = kept_weight[reached]
                reached -= 1
            if level > 0:
                above = parent[node]
                feature = tested[above]
                old_agrees, old_weight = agrees[feature], weight[feature]
                goes_left = rows[row, feature] <= threshold[above]
                new_agrees = old_agrees if goes_left == (node == left[above]) else 0.0
                new_weight = old_weight * share[node]
                kept_feature[level] = feature
                kept_agrees[level], kept_weight[level] = old_agrees, old_weight
                agrees[feature], weight[feature] = new_agrees, new_weight
                reached = level
                for n in range(nodes.size):
                    product[level, n] = product[level - 1, n]
                    if feature not in (first, second):
                        t = nodes[n]
                        product[level, n] *= t * new_agrees + (1 - t) * new_weight
                        product[level, n] /= t * old_agrees + (1 - t) * old_weight
            if left[node] == LEAF:
                gain = agrees[first] - weight[first]
                if second != first:
                    gain *= agrees[second] - weight[second]
                shapley_values[row] += value[node] * gain * np.dot(weights, product[level])
            elif (below[0, node] or weight[first] < 1) and (below[1, node] or weight[second] < 1):
                stack[waiting], stack[waiting + 1] = right[node], left[node]
                waiting += 2
    return shapley_values
