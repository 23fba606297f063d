import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from decaf.evaluation.probes import (
    PROBES,
    gradient_boosting,
    held_out_probabilities,
    leave_one_group_out,
    logistic_regression,
)

NAMES = ("evidence", "contradiction", "fragility")


def units(count=240, seed=0):
    """Three families; the first label follows one feature, the second two, the third none."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 3)) * [1, 100, 0.01]
    noise = rng.normal(size=(count, 3))
    signal = np.stack([x[:, 0], x[:, 0] + x[:, 1] / 100, 0 * x[:, 0]], axis=1)
    y = signal + 0.7 * noise > [0, 0, 0.8]
    return x, y, np.array(["cnn", "vit", "swin"])[np.arange(count) % 3]


def test_a_label_that_is_a_feature_is_found_and_one_that_turns_round_is_not():
    x = np.array([[0.0], [1.0], [0.0], [1.0], [0.0], [1.0]])
    y = np.array([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1], [1, 0]])
    found = leave_one_group_out(x, y, [1, 1, 2, 2, 3, 3])
    assert found.groups == ("1", "2", "3")
    assert found.auroc[:, 0].tolist() == [1, 1, 1]
    # The third group turns the second label round, against all that the other two teach.
    assert found.auroc[2, 1] == 0
    assert found.reasons == {}


def test_logistic_regression_is_that_of_scikit_learn():
    x, y, families = units()
    found = leave_one_group_out(x, y, families)
    for row, family in enumerate(("cnn", "swin", "vit")):
        train, test = families != family, families == family
        mean, std = x[train].mean(axis=0), x[train].std(axis=0)
        for label in range(3):
            model = LogisticRegression(C=1.0, class_weight="balanced", max_iter=2000)
            model.fit((x[train] - mean) / std, y[train, label])
            scores = model.decision_function((x[test] - mean) / std)
            expected = roc_auc_score(y[test, label], scores)
            assert found.auroc[row, label] == pytest.approx(expected, abs=1e-12)
            np.testing.assert_allclose(
                found.probability[test, label], 1 / (1 + np.exp(-scores)), rtol=1e-9
            )
    assert found.auroc[:, 0].mean() > 0.85
    assert 0.35 < found.auroc[:, 2].mean() < 0.65


def test_probes_are_as_the_protocol_says():
    assert list(PROBES) == ["logistic_regression", "gradient_boosting"]
    linear = logistic_regression()[-1].get_params()
    assert (linear["C"], linear["class_weight"], linear["max_iter"]) == (1.0, "balanced", 2000)
    trees = gradient_boosting().get_params()
    assert (trees["max_iter"], trees["learning_rate"]) == (200, 0.05)
    assert trees["early_stopping"] is False, "by itself it stops early above 10,000 rows"


def test_a_fold_of_one_kind_is_undefined_with_a_reason():
    x, y, families = units(60)
    y[families == "vit", 0] = True
    y[families != "swin", 1] = False
    y[:, 2] = False
    found = leave_one_group_out(x, y, families)
    assert np.isnan(found.auroc).tolist() == [
        [False, True, True],  # cnn
        [False, True, True],  # swin
        [True, True, True],  # vit
    ]
    for row, family in enumerate(("cnn", "swin", "vit")):
        is_missing = np.isnan(found.probability[families == family])
        assert (is_missing == np.isnan(found.auroc[row])).all()
    folds = [("vit", 0, "held-out"), ("cnn", 1, "held-out"), ("swin", 1, "training")]
    assert all(units in found.reasons[family, label] for family, label, units in folds)
    assert len(found.reasons) == np.isnan(found.auroc).sum()


def test_the_held_out_family_teaches_nothing():
    """Its features and labels may be anything: what is learnt from the others stays."""
    x, y, families = units(60)
    seen = []

    class Recorder:
        def fit(self, features, labels):
            seen.append((features.copy(), labels.copy()))
            return self

        def predict_proba(self, features):
            return np.stack([features[:, 0], features[:, 0]], axis=1)

    leave_one_group_out(x, y[:, :1], families, Recorder)
    for family, (features, labels) in zip(("cnn", "swin", "vit"), seen, strict=True):
        np.testing.assert_array_equal(features, x[families != family])
        np.testing.assert_array_equal(labels, y[families != family, 0])


@pytest.fixture
def treated():
    """Sixty units of four groups and three classes, a fifth of the features missing."""
    rng = np.random.default_rng(7)
    classes = np.tile([0, 1, 2], 20)
    features = rng.normal(size=(60, 4)) + classes[:, None]
    features[rng.random(features.shape) < 0.2] = np.nan
    return features, classes, np.repeat(["a", "b", "c", "d"], 15)


def test_probabilities_are_those_of_a_fit_without_the_group(treated):
    features, classes, groups = treated
    found = held_out_probabilities(features, classes, NAMES, groups)
    for group in "abcd":
        inside = groups == group
        medians = np.nanmedian(features[~inside], axis=0)
        filled = np.where(np.isnan(features), medians, features)
        mean, scale = filled[~inside].mean(axis=0), filled[~inside].std(axis=0)
        fitted = LogisticRegression(C=1.0, class_weight="balanced", max_iter=2000).fit(
            (filled[~inside] - mean) / scale, classes[~inside]
        )
        expected = fitted.predict_proba((filled[inside] - mean) / scale)
        assert np.allclose(found.probability[inside], expected, atol=1e-4)
    assert np.allclose(found.probability.sum(axis=1), 1)
    assert (found.feature_count == 4).all()
    assert found.reasons == {}


def test_a_feature_that_only_the_held_out_group_has_is_left_out(treated):
    features, classes, groups = treated
    alone = np.where(groups == "b", 1e6 * classes, np.nan)[:, None]
    found = held_out_probabilities(np.hstack([features, alone]), classes, NAMES, groups)
    without = held_out_probabilities(features, classes, NAMES, groups)
    inside = groups == "b"
    assert np.array_equal(found.probability[inside], without.probability[inside])
    assert (found.feature_count == np.where(inside, 4, 5)).all()


def test_a_class_without_training_units_leaves_the_fold_undefined(treated):
    features, classes, groups = treated
    classes = np.where((classes == 2) & (groups != "a"), 0, classes)
    found = held_out_probabilities(features, classes, NAMES, groups)
    assert found.reasons.keys() == {"a"}
    assert "fragility" in found.reasons["a"]
    assert np.isnan(found.probability[groups == "a"]).all()
    assert not np.isnan(found.probability[groups != "a"]).any()


def test_no_feature_at_all_has_a_reason(treated):
    _, classes, groups = treated
    found = held_out_probabilities(np.full((60, 2), np.nan), classes, NAMES, groups)
    assert found.reasons.keys() == set("abcd")
    assert (found.feature_count == 0).all()
