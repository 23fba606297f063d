"""Estimators as people bring them: several targets, files of joblib, other versions."""

import gzip
import pickle
import sys
import warnings
from types import ModuleType

import joblib
import numpy as np
import pytest
import skops.io
import xgboost
from income_table import FRAME, LABELS, TARGETS, boosted, card, remarks, scores
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

from decaf import audit
from decaf.errors import ModelError
from decaf.registry.entries import Described
from decaf.registry.proposals import proposal_of

# Classifiers of several targets

SEVERAL = {
    "forest": RandomForestClassifier(3),
    "neighbours": KNeighborsClassifier(),
    "multi": MultiOutputClassifier(LogisticRegression()),
    "chain": ClassifierChain(LogisticRegression()),
    "ovr": OneVsRestClassifier(LogisticRegression()),
    "mlp": MLPClassifier(4, max_iter=2),
    "pipe": make_pipeline(SimpleImputer(), OneVsRestClassifier(LogisticRegression())),
    "search": GridSearchCV(OneVsRestClassifier(LogisticRegression()), {}, cv=2),
    "boosted": boosted(),
}


@pytest.fixture(scope="module")
def several():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            name: estimator.fit(FRAME.to_numpy(), TARGETS) for name, estimator in SEVERAL.items()
        }


@pytest.mark.parametrize("method", ["predict_proba", "predict"])
@pytest.mark.parametrize("name", SEVERAL)
def test_a_classifier_of_several_targets_is_refused(tmp_path, several, name, method):
    joblib.dump(several[name], tmp_path / "m.joblib")
    with pytest.raises(ModelError, match="it has 2 targets"):
        card(tmp_path / "m.joblib", unpickle=True, method=method).load("cpu")
    with pytest.raises(ModelError, match="2 label columns"):
        audit(several[name], FRAME.to_numpy(), FRAME.to_numpy() + 1, target=1)


def test_a_native_booster_of_several_targets_is_refused(tmp_path, several):
    several["boosted"].save_model(tmp_path / "m.json")
    boosted(xgboost.XGBRegressor).fit(FRAME, TARGETS).save_model(tmp_path / "r.json")
    for given in (card(tmp_path / "m.json"), card(tmp_path / "r.json", method="predict")):
        with pytest.raises(ModelError, match="it has 2 targets"):
            given.load("cpu")


def test_a_regressor_of_several_targets_is_refused(tmp_path):
    skops.io.dump(LinearRegression().fit(FRAME, TARGETS), tmp_path / "m.skops")
    with pytest.raises(ModelError, match="it has 2 targets"):
        card(tmp_path / "m.skops", method="predict").load("cpu")
    neighbours = KNeighborsRegressor().fit(FRAME, TARGETS)  # which says nowhere how many it has
    skops.io.dump(neighbours, tmp_path / "n.skops")
    trusted = skops.io.get_untrusted_types(file=tmp_path / "n.skops")
    given = card(tmp_path / "n.skops", method="predict", trusted=trusted)
    with pytest.raises(ModelError, match="it has 2 targets"):
        scores(given, FRAME)


def test_one_target_in_a_list_is_refused(tmp_path):
    fitted = MultiOutputClassifier(LogisticRegression()).fit(FRAME, TARGETS[:, :1])
    skops.io.dump(fitted, tmp_path / "m.skops")
    with pytest.raises(ModelError, match="it has 1 target, "):
        card(tmp_path / "m.skops").load("cpu")
    with pytest.raises(ModelError, match="1 label column;"):
        audit(fitted, FRAME, FRAME + 1, target=1)


def test_one_target_is_not_taken_for_several(tmp_path):
    one = {
        "mlp": MLPClassifier(4, max_iter=2),
        "ovr": OneVsRestClassifier(LogisticRegression()),
        "boosted": boosted(),
        "search": GridSearchCV(LogisticRegression(), {}, cv=2),
    }
    labels = np.arange(60) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, estimator in one.items():
            joblib.dump(estimator.fit(FRAME.to_numpy(), labels), tmp_path / f"{name}.joblib")
            found = scores(card(tmp_path / f"{name}.joblib", unpickle=True), FRAME)
            np.testing.assert_allclose(found, estimator.predict_proba(FRAME.to_numpy()))


def test_a_list_of_tables_in_the_library(several):
    with pytest.raises(ModelError, match="list of 2 tables"):
        audit(several["forest"].predict_proba, FRAME.to_numpy(), FRAME.to_numpy() + 1, target=1)


# Files of joblib and pickle

WRITERS = {
    "m.joblib": joblib.dump,
    "m.pkl": lambda estimator, path: path.write_bytes(pickle.dumps(estimator)),
    "m.pickle": joblib.dump,
    "m.sav": joblib.dump,
    "zlib.joblib": lambda estimator, path: joblib.dump(estimator, path, compress=3),
    "m.joblib.gz": joblib.dump,
    "m.joblib.xz": joblib.dump,
    "m.pkl.bz2": joblib.dump,
    "m.pkl.gz": lambda estimator, path: path.write_bytes(gzip.compress(pickle.dumps(estimator))),
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_messages_lead_to_an_open_file(tmp_path, name):
    fitted = RandomForestClassifier(3).fit(FRAME, LABELS)
    WRITERS[name](fitted, tmp_path / name)
    with pytest.raises(ModelError, match="pickle or joblib.*'unpickle: true'"):
        card(tmp_path / name).weights_digest()
    found = scores(card(tmp_path / name, unpickle=True), FRAME)
    np.testing.assert_array_equal(found, fitted.predict_proba(FRAME))


HELD = {
    "a dict": ({"model": 1, "columns": 2}, "dict with the keys model, columns"),
    "a list": ([1], "list has no predict_proba"),
    "text": (b"no pickle at all", "cannot be opened: .*the file is damaged or of another kind"),
    "nothing": (b"", "cannot be opened: .*the file is damaged or of another kind"),
    "cut short": (pickle.dumps(LogisticRegression())[:80], "the file is damaged"),
    "no package": (b"cnot_there.trees\nForest\n.", "install not_there where decaf runs"),
    "a notebook's": (b"c__main__\nOwnSteps\n.", "defined in a script or a notebook"),
}


@pytest.mark.parametrize("held", HELD)
def test_a_pickle_that_holds_no_estimator(tmp_path, held):
    content, message = HELD[held]
    is_raw = isinstance(content, bytes)
    (tmp_path / "m.pkl").write_bytes(content if is_raw else pickle.dumps(content))
    with pytest.raises(ModelError, match=message):
        card(tmp_path / "m.pkl", unpickle=True).load("cpu")


@pytest.mark.parametrize("main", ["__main__", "__mp_main__"])
def test_a_function_of_a_notebook_is_named_by_workers_too(tmp_path, monkeypatch, main):
    (tmp_path / "m.pkl").write_bytes(b"c__main__\ntenure\n.")
    monkeypatch.setitem(sys.modules, "__main__", ModuleType(main))
    with pytest.raises(ModelError, match="tenure.*script or a notebook.*'python_path:'"):
        card(tmp_path / "m.pkl", unpickle=True).load("cpu")


# Files of another version of scikit-learn


@pytest.fixture
def older(tmp_path, monkeypatch):
    """Save a pipeline as scikit-learn 1.4.2 does, whose imputer lacks an attribute of today."""

    def save(estimator, name):
        with monkeypatch.context() as patch:
            patch.setattr("sklearn.base.__version__", "1.4.2")
            dump = skops.io.dump if name.endswith("skops") else joblib.dump
            dump(estimator, tmp_path / name)
        return tmp_path / name

    return save


@pytest.mark.parametrize("name", ["m.skops", "m.pkl", "m.joblib.gz"])
def test_an_older_file_names_both_versions(older, name):
    import sklearn

    fitted = make_pipeline(SimpleImputer(), LogisticRegression()).fit(FRAME, LABELS)
    keys = {"unpickle": True} if name != "m.skops" else {"trusted": ("numpy.dtype",)}
    works = card(older(fitted, name), **keys)
    np.testing.assert_array_equal(scores(works, FRAME), fitted.predict_proba(FRAME))
    (remark,) = remarks(works, FRAME)
    assert remark.startswith(f"scikit-learn 1.4.2 saved it, and {sklearn.__version__} is installed")
    del fitted.steps[0][1].statistics_
    del fitted.steps[0][1]._fill_dtype
    with pytest.raises(ModelError) as error:
        scores(card(older(fitted, name), **keys), FRAME)
    for word in ("model m: ", name, "1.4.2", sklearn.__version__, "save it again", "install"):
        assert word in str(error.value)


def test_an_error_at_opening_names_both_versions(older):
    fitted = RandomForestClassifier(2).fit(FRAME, LABELS)
    path = older(fitted, "m.pkl")
    content = path.read_bytes().replace(b"sklearn.ensemble._forest", b"sklearn.ensemble.forests")
    path.write_bytes(content)
    with pytest.raises(ModelError, match="1.4.2 saved it"):
        card(path, unpickle=True).load("cpu")


# Through the command line


def test_a_card_of_several_targets_and_of_joblib(tmp_path, several):
    folders = [tmp_path / name for name in ("several", "pickled", "boosted")]
    for folder in folders:
        folder.mkdir()
    skops.io.dump(several["multi"], folders[0] / "m.skops")
    joblib.dump(several["multi"], folders[1] / "m.joblib")
    boosted().fit(FRAME, LABELS).save_model(folders[2] / "m.ubj")
    with pytest.raises(ModelError, match=r"m\.skops.* 2 targets"):
        proposal_of(Described(folders[0], {}))
    pickled = proposal_of(Described(folders[1], {}))
    assert pickled.card == {"source": "estimator", "file": "m.joblib", "unpickle": True}
    assert any("trust:" in remark for remark in pickled.remarks)
    remarks = proposal_of(Described(folders[2], {})).remarks
    assert any(remark.startswith("missing: ") for remark in remarks)
