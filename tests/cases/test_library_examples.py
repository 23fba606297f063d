"""What the pages of the library promise: clusters are sources, and examples keep the contracts."""

import numpy as np
import pandas as pd

from decaf import GaussianReveal, audit
from decaf.reveal.gaussian.reference import fit_reference

RNG = np.random.default_rng(5)
X_PLUS, X_MINUS = RNG.normal(size=(2, 4, 3))
MATCHED = GaussianReveal(reference=fit_reference([X_PLUS, X_MINUS]), seeds=(1, 2))


def score(x):
    return np.tanh(x @ [1.0, -2.0, 0.5]) + x[:, 0] * x[:, 1]


def test_inputs_of_one_cluster_share_the_start_of_a_path_that_draws():
    by_row = audit(score, X_PLUS, X_MINUS, path=MATCHED)
    starts = by_row.q_plus[:, :, 0]
    assert len(np.unique(starts)) == 8
    clustered = audit(score, X_PLUS, X_MINUS, path=MATCHED, clusters=[3, 3, 0, 1])
    # A start is drawn by the name of its source, and rows are named by their numbers.
    np.testing.assert_array_equal(clustered.q_plus[:, :, 0], starts[[3, 3, 0, 1]])
    np.testing.assert_array_equal(clustered.q_minus[:, :, 0], starts[[3, 3, 0, 1]])
    np.testing.assert_array_equal(clustered.q_plus[..., -1], by_row.q_plus[..., -1])
    assert clustered.row.tolist() == [0, 1, 2, 3]
    assert clustered.forward_rows == by_row.forward_rows - 2  # one start less for each seed


def test_names_of_clusters_are_names_of_sources():
    words = audit(score, X_PLUS, X_MINUS, path=MATCHED, clusters=["3", "3", "0", "1"])
    numbers = audit(score, X_PLUS, X_MINUS, path=MATCHED, clusters=[3, 3, 0, 1])
    np.testing.assert_array_equal(words.response, numbers.response)


def test_rows_of_a_frame_keep_their_labels_whatever_their_cluster():
    frame = pd.DataFrame(X_PLUS, columns=list("abc"), index=[10, 20, 30, 40])
    other = pd.DataFrame(X_MINUS, columns=list("abc"), index=[10, 20, 30, 40])
    labels = []

    def noted(rows):
        labels.extend(zip(rows.index, rows["a"], strict=True))
        return rows["a"].to_numpy()

    audit(noted, frame, other, clusters=[7, 7, 8, 8], stages=[0, 1])
    clean = {*zip(frame.index, frame["a"], strict=True), *zip(other.index, other["a"], strict=True)}
    assert clean <= set(labels)


def test_without_clusters_every_row_is_a_source_by_its_number():
    by_number = audit(score, X_PLUS, X_MINUS, path=MATCHED, clusters=range(4))
    by_row = audit(score, X_PLUS, X_MINUS, path=MATCHED)
    np.testing.assert_array_equal(by_number.response, by_row.response)
