"""Names of classes become outputs of a model only where somebody states which."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
import skops.io
from ended_commands import refused, succeeded
from in_process import compute
from own_data import save as save_image
from own_data import square, write_table
from report_reader import Reader
from sklearn.linear_model import LogisticRegression
from warehouse_answers import fetched

from decaf.data.class_ids import GUESSED
from decaf.errors import BadInput
from decaf.plan.class_names import class_name_errors
from decaf.plan.resolution import list_entries, resolve
from decaf.plan.study import load_study

NINE = ("bird", "cat", "dog", "fish", "frog", "goat", "lion", "newt", "wasp")
UNIFORM = """
import numpy as np

def of(count):
    return lambda batch: np.full((len(batch), count), 1 / count)
"""


@pytest.fixture
def base(tmp_path):
    """Settings of a study but for its data; the model has the outputs that are asked for."""
    (tmp_path / "uniform.py").write_text(UNIFORM)

    def settings(data, outputs, **score):
        model = {"id": "flat", "family": "any", "source": "function", "function": "uniform:of"}
        model |= {"arguments": {"count": outputs}, "output": "probabilities"}
        return {
            "study": "words",
            "python_path": [str(tmp_path)],
            "data": data,
            "models": [model],
            "score": {"kind": "class_probability", "classes": outputs} | score,
            "paths": {"blend": {"kind": "blend", "sigma": 0}},
            "stages": 3,
            "device": "cpu",
            "cluster": {"kind": "local", "workers": 1},
            "workspace": str(tmp_path / "workspace"),
            "warehouse": str(tmp_path / "warehouse"),
            "report": False,
        }

    return settings


def images_of_table(folder, words):
    rows = []
    for number, word in enumerate(words):
        files = [f"images/{number}-{kind}.png" for kind in ("a", "b")]
        for file, ground in zip(files, (0, 200), strict=True):
            save_image(folder / file, square(20 * number, ground))
        rows.append([*files, word])
    write_table(folder / "pairs.csv", rows, ("factual", "counterfactual", "label"))
    return {"adapter": "image_pairs", "pairs": str(folder / "pairs.csv")}


def images_of_folders(folder, words):
    for number, word in enumerate(words):
        for side, ground in (("before", 0), ("after", 200)):
            save_image(folder / side / word / "1.png", square(20 * number, ground))
    sides = {"factual": folder / "before", "counterfactual": folder / "after"}
    return {"adapter": "image_pairs"} | {side: str(place) for side, place in sides.items()}


def rows_of_table(folder, words):
    frame = pd.DataFrame({"age": np.arange(len(words)) + 20.5, "kind": words})
    frame.to_csv(folder / "rows.csv", index=False)
    changes = {"older": {"add": {"age": 5}}}
    data = {"adapter": "table_pairs", "table": str(folder / "rows.csv"), "label": "kind"}
    return data | {"changes": changes}


ADAPTERS = (images_of_table, images_of_folders, rows_of_table)


@pytest.fixture
def load(write):
    """Read the settings of a study."""
    return lambda settings: load_study(write(settings))


@pytest.fixture
def classes_of(load):
    """Number of pairs by class, and the remarks on them."""

    def count(settings):
        pairs = load(settings).pair_set()
        return Counter(pair.class_id for pair in pairs.pairs), pairs.remarks

    return count


@pytest.fixture
def refuse(load):
    """Assert that a study is refused once its pairs are made, with these values."""

    def check(settings, *values):
        with pytest.raises(BadInput) as refusal:
            load(settings).pair_set()
        assert all(value in str(refusal.value) for value in values), str(refusal.value)

    return check


@pytest.mark.parametrize("data_of", ADAPTERS)
def test_names_are_outputs_where_they_are_as_many(base, classes_of, refuse, tmp_path, data_of):
    refuse(base(data_of(tmp_path, NINE), 1000), "9 names", "1000 classes", "'class_map:'")
    (tmp_path / "two").mkdir()
    counts, remarks = classes_of(base(data_of(tmp_path / "two", ("dog", "cat")), 2))
    assert set(counts) == {0, 1}
    assert any("0 cat, 1 dog" in remark and GUESSED in remark for remark in remarks)


def images_without_labels(folder):
    data = images_of_table(folder, ("dog", "cat"))
    table = folder / "pairs.csv"
    table.write_text("\n".join(row.rpartition(",")[0] for row in table.read_text().splitlines()))
    return data


def images_of_flat_folders(folder):
    return images_of_folders(folder, ("",))


def rows_without_labels(folder):
    return rows_of_table(folder, ("dog", "cat")) | {"label": None, "drop": ["kind"]}


def features_without_labels(folder):
    save_image(folder / "images" / "1.png", square(20, 0))
    features = {"kind": "grid", "side": 2}
    return {"adapter": "image_features", "images": str(folder / "images"), "features": features}


def arrays_without_labels(folder):
    for number, role in enumerate(("factual", "counterfactual")):
        np.save(folder / f"{role}.npy", np.full((2, 3), number, np.float32))
    files = {role: str(folder / f"{role}.npy") for role in ("factual", "counterfactual")}
    return {"adapter": "arrays"} | files


@pytest.mark.parametrize(
    "data_of",
    [
        images_without_labels,
        images_of_flat_folders,
        rows_without_labels,
        features_without_labels,
        arrays_without_labels,
    ],
)
def test_a_class_score_needs_labels_or_a_target(base, load, refuse, tmp_path, data_of):
    data = data_of(tmp_path)
    refuse(base(data, 2), "study.yaml", "'score'", "no labels", "class_probability")
    fixed = load(base(data, 2, target=1)).pair_set()
    number = load(base(data, 2) | {"score": {"kind": "regression_value"}}).pair_set()
    assert (fixed.has_labels, number.has_labels) == (False, False)


def test_the_own_score_of_a_method_needs_them_too(base, load, refuse, tmp_path):
    settings = base(features_without_labels(tmp_path), 2, target=1)
    settings["paths"] = {"removal": {"kind": "removal"}}
    own_score = {"kind": "centred_logit", "classes": 2}
    method = {"kind": "rise", "masks": 4, "baseline": "mean", "own_score": own_score}
    settings["attributions"] = {"rise": method}
    refuse(settings, "'attributions.rise.own_score'", "no labels", "centred_logit")
    own_score["target"] = 0
    assert not load(settings).pair_set().has_labels


@pytest.mark.parametrize("command", ["data", "plan", "run"])
def test_no_labels_end_every_command(command, base, write, decaf, tmp_path):
    refused(decaf(command, write(base(rows_without_labels(tmp_path), 2))), "'score'")


@pytest.mark.parametrize("command", ["data", "plan", "run"])
def test_fewer_names_than_outputs_end_every_command(command, base, write, decaf, tmp_path):
    config = write(base(rows_of_table(tmp_path, NINE), 1000))
    refused(decaf(command, config), "9 names", "1000 classes")


@pytest.mark.parametrize("classes", [["cat", "dog"], ["dog", "cat", "fish", "frog"]])
def test_listed_names_are_as_many_as_the_outputs(base, refuse, tmp_path, classes):
    data = images_of_table(tmp_path, ("dog", "cat")) | {"classes": classes}
    refuse(base(data, 3), f"{len(classes)} names", "3 classes")
    refuse(base(data, 3, target="dog"), f"{len(classes)} names", "3 classes")


def test_listed_names_say_which_output_each_is(base, classes_of, tmp_path):
    data = images_of_table(tmp_path, ("dog", "dog", "cat"))
    assert classes_of(base(data | {"classes": ["fish", "dog", "cat"]}, 3)) == ({1: 2, 2: 1}, ())


def test_truth_values_are_no_guess(base, classes_of, tmp_path):
    counts, remarks = classes_of(base(rows_of_table(tmp_path, [True, False, True]), 2))
    assert counts == {0: 1, 1: 2}
    assert not any(GUESSED in remark for remark in remarks)


def test_a_numbered_target_needs_no_names_and_then_there_is_no_accuracy(base, load, tmp_path):
    assert not load(base(images_of_table(tmp_path, NINE), 20, target=3)).pair_set().has_labels


def of_map(settings, **data):
    score = {"kind": "superclass_probability", "class_map": "imagenet9"}
    return settings | {"score": score, "data": settings["data"] | data}


def test_names_of_a_shipped_map_are_its_superclasses(base, load, classes_of, tmp_path):
    words = ("fish", "dog", "Wheeled_Vehicle", "05_insect")
    settings = base(images_of_folders(tmp_path, words), 9)
    counts, remarks = classes_of(of_map(settings))
    assert counts == {8: 1, 0: 1, 2: 1, 5: 1}
    assert any("imagenet9" in remark for remark in remarks)
    named = of_map(settings)
    named["score"] |= {"target": "primate"}
    assert load(named).score.target == 7


@pytest.mark.parametrize("words", [("dog", "cow"), NINE])
def test_other_words_than_those_of_a_shipped_map_are_refused(base, refuse, tmp_path, words):
    refuse(of_map(base(images_of_folders(tmp_path, words), 9)), "imagenet9", "'classes:'")


def test_a_list_in_another_order_than_a_shipped_map_is_refused(base, classes_of, refuse, tmp_path):
    right = ["dog", "bird", "wheeled vehicle", "reptile", "carnivore", "insect"]
    right += ["musical instrument", "primate", "fish"]
    settings = base(images_of_folders(tmp_path, ("dog", "fish")), 9)
    assert classes_of(of_map(settings, classes=right))[0] == {0: 1, 8: 1}
    for wrong in (right[::-1], [*right[:5], "bug", *right[6:]]):
        refuse(of_map(settings, classes=wrong), "imagenet9")


def test_a_target_by_name_is_no_way_around_a_contradiction(base, refuse, tmp_path):
    settings = of_map(base(images_of_folders(tmp_path, ("dog", "fish")), 9))
    settings["data"]["classes"] = [*map(str, range(2)), "dog", *map(str, range(3, 8)), "fish"]
    settings["score"]["target"] = "dog"
    refuse(settings, "imagenet9")
    settings["data"]["classes"] = ["dog", "fish"]
    refuse(settings, "2 names", "9 classes")


@pytest.mark.slow
@pytest.mark.parametrize(
    "card",
    [
        {"architecture": "torchvision:resnet18", "pretrained": "IMAGENET1K_V1"},
        {"architecture": "timm:resnet18", "pretrained": "a1_in1k"},
    ],
)
def test_a_library_names_the_outputs_of_its_weights(base, classes_of, refuse, tmp_path, card):
    settings = base(images_of_folders(tmp_path, ("tench", "golden_retriever")), 1000)
    settings["models"] = [{"id": "net", "family": "cnn", **card}]
    counts, remarks = classes_of(settings)
    assert counts == {0: 1, 207: 1}
    assert any(card["architecture"].partition(":")[0] in remark for remark in remarks)
    settings["data"] = images_of_table(tmp_path, ("tench", "doggo"))
    refuse(settings, "'doggo'", "'classes:'")


def estimator(folder, name, words, **card):
    """Fit an estimator on words and give its card; older rows are of the last word."""
    rows = pd.DataFrame({"age": [20.0, 25, 30, 35, 40, 45]})
    labels = np.array(words)[np.arange(6) * len(words) // 6]
    skops.io.dump(LogisticRegression().fit(rows, labels), folder / f"{name}.skops")
    file = str(folder / f"{name}.skops")
    return {"id": name, "family": "any", "source": "estimator", "file": file} | card


def test_an_estimator_states_the_order_of_its_words(base, load, tmp_path):
    words = ["good", "bad"]  # not the order of the alphabet
    settings = base(rows_of_table(tmp_path, ["bad", "good", "bad", "good"]), 2)
    settings["models"] = [estimator(tmp_path, "judge", words, classes=words)]
    study = load(settings)
    assert [pair.class_id for pair in study.pair_set().pairs] == [1, 0, 1, 0]
    compute(study)
    scores = fetched(
        tmp_path / "warehouse", "SELECT q_plus[3] FROM stg_trajectories ORDER BY pair_id"
    )
    fitted = skops.io.load(tmp_path / "judge.skops", trusted=[])
    rows = pd.DataFrame({"age": np.arange(4) + 20.5})
    answers = fitted.predict_proba(rows)
    places = [fitted.classes_.tolist().index(word) for word in ("bad", "good", "bad", "good")]
    np.testing.assert_allclose([q for (q,) in scores], answers[range(4), places], atol=1e-12)


def test_other_words_than_those_of_an_estimator_are_refused(base, classes_of, refuse, tmp_path):
    settings = base(rows_of_table(tmp_path, ["y", "n", "y"]), 2)
    settings["models"] = [estimator(tmp_path, "judge", ["no", "yes"], classes=["no", "yes"])]
    refuse(settings, "'classes:' of model judge")
    settings["data"] |= {"classes": ["n", "y"]}  # which of the estimator's words each is
    assert classes_of(settings)[0] == {0: 1, 1: 2}


def test_a_list_in_another_order_than_an_estimator_is_refused(base, refuse, tmp_path):
    settings = base(rows_of_table(tmp_path, ["yes", "no"]) | {"classes": ["yes", "no"]}, 2)
    settings["models"] = [estimator(tmp_path, "judge", ["no", "yes"], classes=["no", "yes"])]
    refuse(settings, "class 0", "'yes'", "model judge")


def test_models_that_disagree_are_refused(base, refuse, tmp_path):
    settings = base(rows_of_table(tmp_path, ["yes", "no"]), 2)
    cards = {"one": ["no", "yes"], "two": ["yes", "no"]}
    settings["models"] = [
        estimator(tmp_path, name, ["no", "yes"], classes=words) for name, words in cards.items()
    ]
    refuse(settings, "model one", "model two")


def test_an_entry_of_a_registry_that_contradicts_the_data_fails(base, load, tmp_path):
    settings = base(rows_of_table(tmp_path, ["yes", "no"]) | {"classes": ["yes", "no"]}, 2)
    del settings["models"]
    folder = tmp_path / "models" / "judge"
    folder.mkdir(parents=True)
    estimator(folder, "judge", ["no", "yes"])
    (folder / "decaf.yaml").write_text(
        'source: estimator\nfile: judge.skops\nclasses: ["no", "yes"]\n'
    )
    study = load(settings | {"registry": {"kind": "folder", "root": str(tmp_path / "models")}})
    (judge,) = resolve(study, list_entries(study.registry))
    errors = class_name_errors({"judge": judge.card}, study.pair_set(), study.score)
    assert all(value in str(errors["judge"]) for value in ("class 0", "'yes'", "'no'"))


BRIGHT = """
import numpy as np

def bright(batch):
    level = batch.mean(axis=(1, 2, 3)) > 0.5
    return np.stack([level, ~level], axis=1).astype(float)
"""


def seen(base, tmp_path, labels):
    """Settings of a function that is 1 for bright images, with labels of 12 dark ones."""
    (tmp_path / "bright.py").write_text(BRIGHT)
    rows = []
    for number, label in enumerate(labels):
        files = [f"images/{number}-{kind}.png" for kind in ("a", "b")]
        for file, ground in zip(files, (0, 255), strict=True):
            save_image(tmp_path / file, square(3 * number, ground))
        rows.append([*files, label])
    write_table(tmp_path / "pairs.csv", rows, ("factual", "counterfactual", "label"))
    settings = base({"adapter": "image_pairs", "pairs": str(tmp_path / "pairs.csv")}, 2)
    model = {"id": "bright", "family": "any", "source": "function", "output": "probabilities"}
    settings["models"] = [model | {"function": "bright:bright"}]
    return settings


@pytest.mark.slow
def test_guessed_names_stand_first_in_the_report(base, write, decaf, prefect_server, tmp_path):
    settings = seen(base, tmp_path, ["dark"] * 9 + ["light"])
    settings["report"] = str(tmp_path / "report.html")
    config = write(settings)
    words = f"0 dark, 1 light, {GUESSED}"
    assert words in succeeded(decaf("plan", config))
    done = decaf("run", config, **prefect_server)
    assert words in done.stdout + done.stderr
    page = Reader((tmp_path / "report.html").read_text()).text
    trust = page[page.index("How far to trust this") :]
    # Names in this order make the model wrong on nine of ten, which is said before.
    assert trust.index("(50 %)") < trust.index(words)
