"""AUROC and AUPRC of resampled clusters: by hand, and against scikit-learn with weights."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from decaf.errors import ResponseError
from decaf.statistics import cluster_discrimination
from decaf.statistics.cluster_discrimination import auprc_of_clusters, auroc_of_clusters


def test_by_hand():
    """Cluster 0 holds a positive at 3 and a negative at 1, cluster 1 a positive and a tie at 2."""
    units = [1, 0, 1, 0], [3, 1, 2, 2], [0, 0, 1, 1]
    counts = [[1, 1], [0, 1], [1, 0], [2, 1], [0, 0]]
    # Both once: 3 beats 1 and 2, 2 beats 1 and ties: 3.5 of 4. Precision 1 at 3, 2/3 at 2.
    # Twice and once: 3 beats all (2 x 3), 2 beats 1 twice and ties once (2.5): 8.5 of 9; 1 and 3/4.
    auroc = [3.5 / 4, 0.5, 1, 8.5 / 9, np.nan]
    assert auroc_of_clusters(*units, counts).tolist() == pytest.approx(auroc, nan_ok=True)
    auprc = [5 / 6, 0.5, 1, 2 / 3 + 0.75 / 3, np.nan]
    assert auprc_of_clusters(*units, counts).tolist() == pytest.approx(auprc, nan_ok=True)


@pytest.mark.parametrize("cells", [1, 40, 1 << 22])
@pytest.mark.parametrize("replicates", [3, 30])
@pytest.mark.parametrize("seed", range(4))
def test_like_scikit_learn(seed, replicates, cells, monkeypatch):
    """Ties, missing scores and labels, replicates that miss a class or are fewer than clusters."""
    monkeypatch.setattr(cluster_discrimination, "CELLS_AT_ONCE", cells)
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, 5, 60)
    labels = np.where((clusters < 3) & (rng.random(60) < 0.3), 1.0, 0.0)
    scores = rng.integers(0, 12, 60) / 4 + labels / 2
    scores[rng.random(60) < 0.1] = np.nan
    labels[rng.random(60) < 0.1] = np.nan
    counts = np.array([np.bincount(rng.integers(0, 5, 5), minlength=5) for _ in range(replicates)])
    counts[0] = [0, 0, 0, 2, 3]
    known = ~np.isnan(labels) & ~np.isnan(scores)
    expected = np.full((2, replicates), np.nan)
    for replicate, drawn in enumerate(counts):
        weights = drawn[clusters][known]
        y, s, w = (side[weights > 0] for side in (labels[known], scores[known], weights))
        if len(set(y)) == 2:
            expected[0, replicate] = roc_auc_score(y, s, sample_weight=w)
            expected[1, replicate] = average_precision_score(y, s, sample_weight=w)
    units = labels, scores, clusters, counts
    assert np.isnan(expected[:, 0]).all()
    np.testing.assert_allclose(auroc_of_clusters(*units), expected[0], rtol=1e-6)
    np.testing.assert_allclose(auprc_of_clusters(*units), expected[1], rtol=1e-6)


def test_nothing_to_judge():
    for labels, scores in (([], []), ([1.0], [np.nan]), ([1, 1], [1, 2])):
        for measure in (auroc_of_clusters, auprc_of_clusters):
            found = measure(labels, scores, [0] * len(labels), [[1]])
            assert np.isnan(found).tolist() == [True]


def test_labels_are_0_and_1():
    with pytest.raises(ResponseError, match="expected 0, 1"):
        auroc_of_clusters([0, 2], [1.0, 2.0], [0, 0], [[1]])
