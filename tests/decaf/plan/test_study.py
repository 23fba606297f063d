import re
from pathlib import Path

import pytest

from decaf.errors import ConfigError, DataError
from decaf.plan.presentation import Report
from decaf.plan.study import load_study

MODEL = """
  - id: one
    family: cnn
    architecture: factory:decaf.models.networks.small_cnn:build
    weights: one.safetensors
    input_size: 32
    mean: [0.5, 0.5, 0.5]
    std: [0.5, 0.5, 0.5]
"""
STUDY = f"""study: try
data: {{adapter: shapes3d, sources: 4}}
models:{MODEL}
score: {{kind: class_probability, classes: 2}}
paths:
  blend: {{kind: blend}}
"""


def load(tmp_path, text, name="study.yaml"):
    path = tmp_path / name
    path.write_text(text)
    return load_study(path)


def test_a_study_has_defaults_for_what_it_does_not_say(tmp_path):
    study = load(tmp_path, STUDY)
    assert study.epsilon == 0.02
    assert study.grid.tolist() == [k / 8 for k in range(9)]
    assert (study.cluster, study.batch_size, study.sources_per_block) == (None, None, None)
    assert study.report_file == Path("runs/try.html")
    assert load(tmp_path, f"{STUDY}report: false\n").report_file is None
    assert load(tmp_path, f"{STUDY}report: a.html\n").report == Report(page=Path("a.html"))
    page = load(tmp_path, f"{STUDY}report: {{paper: true, inputs: false}}\n")
    assert page.report == Report(paper=True, inputs=False)
    assert page.report_file == Path("runs/try.html")


def test_lists_of_several_files_are_one_list(tmp_path):
    (tmp_path / "one.yaml").write_text(MODEL)
    (tmp_path / "more.yaml").write_text(
        MODEL.replace("- id: one", "- &first\n    id: two") + "  - {<<: *first, id: three}\n"
    )
    text = STUDY.replace(f"models:{MODEL}", "models: [!file one.yaml, !file more.yaml]\n")
    assert [card.id for card in load(tmp_path, text).models] == ["one", "two", "three"]
    (tmp_path / "more.yaml").write_text(MODEL.replace("mean", "maen").replace("id: one", "id: two"))
    with pytest.raises(ConfigError, match=r"more\.yaml:7: .*'maen'.* 'mean'"):
        load(tmp_path, text)


def test_stages_may_be_listed(tmp_path):
    assert load(tmp_path, STUDY + "stages: [0, 0.25, 1]\n").grid.tolist() == [0, 0.25, 1]


def test_a_file_can_stand_in_for_a_section_and_a_variable_in_a_text(tmp_path, monkeypatch):
    (tmp_path / "models.yaml").write_text(MODEL)
    monkeypatch.setenv("PLACE", "/somewhere")
    text = STUDY.replace(f"models:{MODEL}", "models: !file models.yaml\n")
    study = load(tmp_path, text + "warehouse: ${PLACE}/warehouse\n")
    assert study.models[0].id == "one"
    assert study.warehouse == "/somewhere/warehouse"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("epsilon", "epsilom: 0.1", r"study\.yaml:14: .*'epsilom'.* 'epsilon'"),
        ("", "paths:\n  blend: {kind: blend}", r"study\.yaml:14: .*'paths'"),
        ("", "stages: 1", r"study\.yaml:14: 'stages"),
        ("", "stages: [0, 0.5]", r"study\.yaml:14: .*expected \[0, 1\]"),
        ("", "epsilon: 0", r"study\.yaml:14: 'epsilon.*greater than 0 \(found 0\)"),
        ("", "batch_size: many", r"study\.yaml:14: 'batch_size.*found 'many'"),
        ("", "warehouse: ${NOT_SET_AT_ALL}", r"study\.yaml:14: environment variable NOT_SET"),
        (
            "",
            "report: ${NO_A}\nworkspace: ${NO_B}",
            r":14: .* NO_A is not .*\n.*:15: .* NO_B is not",
        ),
        ("{kind: blend}", "{kind: blnd}", r"study\.yaml:13: 'paths\.blend.*'blend'"),
        ("{kind: class_p", "{kind: clas_p", r"study\.yaml:11: 'score': .*'class_probability'"),
        ("{kind: class_", "{knd: class_", r"study\.yaml:11: .*'kind'"),
        ("    family", "    source: estimatr\n    family", r"study\.yaml:5: .*mean 'estimator'"),
        ("classes: 2", "classes: 2, target: 2", r"study\.yaml:11: .*2 classes: expected 0 to 1"),
        ("    mean:", "    entry: x\n    mean:", r"study\.yaml:9: .*'weights'"),
        ("0.5]\n    std", "0.5]\n    Std", r"study\.yaml:10: 'models\.0': .*'Std'"),
        ("    mean", "    pretrained: x\n    mean", r"study\.yaml:4: .*'weights'"),
        ("    mean", "    precision: half\n    mean", r"study\.yaml:9: .*'float32', 'tf32'"),
        ("{kind: blend}", "{kind: blend, sigam: 2}", r"study\.yaml:13: .*'sigma'"),
        ("sources: 4", "source: 4", r"study\.yaml:2: .*'sources'"),
        ("    mean:", "    maen:", r"study\.yaml:9: .*'maen'.*'mean'"),
        ("    weights: one.safetensors\n", "", r"study\.yaml:4: .*'weights'"),
        ("id: one", "id: one/two", r"study\.yaml:4: 'models\.0\.id.*pattern.*found 'one/two'"),
        ("    mean: [0.5, 0.5, 0.5]\n", "", r"study\.yaml:4: 'models\.0\.mean'.*configuration\.md"),
        ("score:", "scoer:", r"study\.yaml:11: .*'score'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, old, new, message):
    text = STUDY.replace(old, new, 1) if old in STUDY and old else f"{STUDY}\n{new}\n"
    with pytest.raises(ConfigError, match=message):
        load(tmp_path, text.replace("\n\n", "\n"))


def test_a_target_is_a_name_of_a_class_of_the_data(tmp_path):
    data = "{adapter: arrays, factual: a.npy, removed: columns, label: l.npy, classes: [ape, bee]}"
    text = STUDY.replace("classes: 2", "classes: 2, target: bee")
    text = re.sub("data:.*", f"data: {data}", text)
    assert load(tmp_path, text).score.target == 1
    with pytest.raises(ConfigError, match=r"'target' .*'beee'.* 'bee'"):
        load(tmp_path, text.replace("bee}", "beee}"))
    file = tmp_path / "classes.json"
    named = f"{{adapter: image_pairs, pairs: p.csv, classes: {file}}}"
    with pytest.raises(DataError, match=r"classes\.json cannot be read"):
        load(tmp_path, text.replace(data, named))
    file.write_text('{"0": ["ape"], "1": ["bee"]}')
    assert load(tmp_path, text.replace(data, named)).score.target == 1


def test_what_came_from_the_environment_is_not_repeated(tmp_path, monkeypatch):
    monkeypatch.setenv("PLACE", "s3cret")
    with pytest.raises(ConfigError, match=r"study\.yaml:15: 'epsilon'") as wrong:
        load(tmp_path, STUDY + "epsilon: ${PLACE}\n")
    assert "s3cret" not in str(wrong.value)


def test_a_mistake_in_an_included_file_is_found_there(tmp_path):
    (tmp_path / "models.yaml").write_text(MODEL.replace("family", "familly"))
    text = STUDY.replace(f"models:{MODEL}", "models: !file models.yaml\n")
    with pytest.raises(ConfigError, match=r"models\.yaml:3: .*'family'"):
        load(tmp_path, text)


@pytest.mark.parametrize("key", ["behaviours", "models_per_worker", "sources_per_shard"])
def test_a_key_that_went_is_refused_with_what_to_do(tmp_path, key):
    with pytest.raises(ConfigError, match=rf"'{key}' is (now '|gone, .*; leave it out)"):
        load(tmp_path, f"{STUDY}{key}: 4\n")


def test_two_models_of_one_name_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="model ids are equal, or differ only in capitals"):
        load(tmp_path, STUDY.replace(MODEL, MODEL + MODEL))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"study\.yaml"),
        ("study: [", r"study\.yaml"),
        ("study: !!python/object:os.system x", r"study\.yaml"),
        ("study: !file study.yaml\n", "include each other"),
        ("study: !file absent.yaml\n", r"absent\.yaml does not exist"),
    ],
)
def test_what_is_not_plain_yaml_or_not_there_is_refused(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        load(tmp_path, text)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"absent\.yaml does not exist"):
        load_study(tmp_path / "absent.yaml")
