"""Slips in a configuration: planning refuses each with its line and key."""

import os

import pytest
import yaml
from ended_commands import refused

from decaf.errors import BadInput
from decaf.plan.study import load_study
from tasks.plan import plan_audit

NETWORK = {
    "architecture": "factory:decaf.models.networks.small_cnn:build",
    "weights": "x.safetensors",
    "input_size": 32,
    "mean": [0.5],
    "std": [0.5],
}
ENDPOINT = {"id": "e", "family": "f", "source": "endpoint", "url": "http://127.0.0.1:9/"}
ENDPOINT |= {"version": "1", "output": "logits"}
FEATURES = "{adapter: image_features, images: absent, features: {kind: %s}}"
FEW = "{split: test, sources: 48000, adapter: %s}"
RECIPE = {"recipe": "scene_shortcut", "shortcut": 0.9, "seed": 1}
TASK = {"recipe": "scene_task", "task": "object_shape", "seed": 1}
VARIANT = {"recipe": "scene_variant", "variant": "sturdy", "seed": 1}


def study(key=None, value=None):
    """Text of a study that can be planned, with another value at a dotted key."""
    settings = {
        "study": "slips",
        "data": {"adapter": "shapes3d", "sources": 4, "seed": 1},
        "models": [dict(ENDPOINT)],
        "score": {"kind": "class_probability", "classes": 2},
        "paths": {"blend": {"kind": "blend", "sigma": 1.5}},
    }
    if key is None:
        return yaml.safe_dump(settings, sort_keys=False)
    *sections, last = key.split(".")
    section = settings
    for name in sections:
        section = section[int(name)] if isinstance(section, list) else section.setdefault(name, {})
    section[int(last) if isinstance(section, list) else last] = "PUT HERE"
    return yaml.safe_dump(settings, sort_keys=False).replace("PUT HERE", str(value))


TEXTS = {
    "plain-text": ("a study\n", "study.yaml:1", "found text", "expected keys and values"),
    "list": ("- a\n- b\n", "study.yaml:1", "found a list", "expected keys and values"),
    "number": ("17\n", "study.yaml:1", "found a number", "expected keys and values"),
    "nothing": ("~\n", "study.yaml:1", "found nothing", "expected keys and values"),
    "empty": ("", "study.yaml is empty"),
    "nul": (study() + "report: a\0b\n", "study.yaml:20", "U+0000", "remove it"),
    "not-utf-8": (b"study: \xff\n", "study.yaml:1", "expected UTF-8"),
    "image": (b"\x89PNG\r\n\x1a\n" + bytes(99), "study.yaml:1", "expected UTF-8"),
    "brackets": ("a: " + "[" * 5000, "study.yaml", "nested"),
    "in-itself": (study() + "report: &a [*a]\n", "an anchor in itself"),
    "twice": (study() + "study: again\n", "study.yaml:20", "key 'study' is given twice"),
    "set": (study() + "stages: !!set {a}\n", "study.yaml:20", "'stages'", "found !!set"),
    "python": (study() + "stages: !!python/name:os.abort ''\n", "'stages'", "!!python/name"),
    "file-in-itself": ("!file study.yaml", "include each other more than 8 deep"),
    "absent-file": (study("models", "!file absent.yaml"), "absent.yaml does not exist"),
    "folder-as-file": (study("models", "!file ."), "it is a folder, not a file"),
    "pipe-as-file": (study("models", "!file pipe.yaml"), "pipe.yaml", "it is a pipe, not a file"),
    "long-file": (study("models", f"!file {'x' * 5000}"), "File name too long"),
    "nul-file": (study("models", r'!file "a\0b"'), "'models'", "U+0000"),
}
"""Whole files, and the words that they are refused with."""

VALUES = [
    ("study", "2026-13-45", "study.yaml:1", "'study'", "the date '2026-13-45'", "quotes"),
    ("study", "2026-01-01", "'study'", "found the date", "text: put it in quotes"),
    ("study", "a/b", "study.yaml:1", "'study'", "pattern", "found 'a/b'"),
    ("study", "x" * 5000, "'study'", "at most 60 characters"),
    ("study", "7", "study.yaml:1", "'study'", "expected text: put it in quotes (found 7)"),
    ("epsilon", ".inf", "study.yaml:20", "'epsilon'", "found '.inf'", "a finite number"),
    ("epsilon", ".nan", "'epsilon'", "found '.nan'", "a finite number"),
    ("epsilon", "true", "study.yaml:20", "'epsilon' is true", "expected a number"),
    ("epsilon", "yes", "'epsilon' is true", "expected a number"),
    ("epsilon", "0", "'epsilon'", "greater than 0 (found 0)"),
    ("epsilon", "1.0e+12", "'epsilon'", "less than or equal to 1000000000"),
    ("epsilon", "'${NUMBER}'", "'epsilon'", "finite"),
    ("epsilon", "!!float abc", "'epsilon'", "found 'abc'", "a finite number"),
    ("epsilon", "1,5", "'epsilon'", "found '1,5'"),
    ("epsilon", "[0.1]", "'epsilon'", "expected a number"),
    ("stages", "1000000000000", "'stages", "10000 at most"),
    ("stages", "true", "'stages' is true", "expected a number"),
    ("stages", "[0, true]", "'stages' is true", "expected a number"),
    ("stages", "[0, .nan, 1]", "'stages.1'", "found '.nan'"),
    ("stages", "[0, 0.5, 0.5, 1]", "'stages", "does not strictly increase"),
    ("stages", "-3", "'stages", "at least two stages"),
    ("stages", "1.5", "'stages", "found 1.5"),
    ("batch_size", "0", "'batch_size'", "greater than 0"),
    ("batch_size", "1000000000000", "'batch_size'", "less than or equal to 1000000"),
    ("batch_size", "64.5", "'batch_size'", "expected a whole number"),
    ("batch_size", "on", "'batch_size' is true", "expected a number"),
    ("sources_per_block", "1e10", "'sources_per_block'", "found '1e10'"),
    ("sources_per_block", "10000000000", "'sources_per_block'", "less than or equal to 1000000"),
    ("device", "gpu", "'device'", "'cuda'"),
    ("cluster", "{kind: local, workers: 100000}", "workers'", "less than or equal to 4096"),
    ("cluster", "{kind: local, workers: true}", "'workers' is true", "expected a number"),
    ("cluster", "{kind: local, threads: 0}", "threads'", "greater than 0"),
    ("cluster", "{kind: lokal}", "unknown kind 'lokal'; did you mean 'local'?", "address, cuda"),
    ("cluster", "local", "'cluster'", "study.yaml:20"),
    ("warehouse", "x" * 5000, "'warehouse'", "5000 bytes"),
    ("workspace", "x" * 5000, "'workspace' has 5000 bytes", "3000 bytes, and at most 255"),
    ("workspace", "x/" * 2500, "'workspace' has 5000 bytes", "3000 bytes, and at most 255"),
    ("workspace", r'"a\0b"', "study.yaml:20", "'workspace'", "U+0000"),
    ("report", "x" * 5000, "'page' has 5000 bytes", "3000 bytes, and at most 255"),
    ("expect", "{wall: should_matter}", "study.yaml:20", "'expect.wall'", "known: shape, wall_hue"),
    ("expect", "{wall_hue: maybe}", "'expect.wall_hue'", "'should_not_matter'", "'maybe'"),
    ("expect", "{wall_hue: {should_not_matter: {at_most: -1}}}", "at_most", "-1"),
    ("expect", "{wall_hue: {should_matter: {at_most: 1}}}", "'at_most'"),
    ("expect", "{wall_hue: {should_not_matter: {at_most: 5%}}}", "at_most", "write 0.05"),
    ("expect", "{wall_hue: {should_not_matter: {at_most: some %}}}", "at_most", "a number"),
    ("expect", "{wall_hue: {}}", "'expect.wall_hue'", "'should_matter'"),
    ("names", "{wall_hue: wall, bland: b}", "'names.bland'", "mean 'blend'"),
    ("names", '{wall_hue: "a\\u202eb"}', "'names.wall_hue'", "cannot be printed"),
    ("names", f"{{wall_hue: {'x' * 61}}}", "'names.wall_hue'", "at most 60"),
    ("report", "{file: a.html}", "'report", "unknown key 'file'"),
    ("report", "[a.html]", "study.yaml:20", "'report", "not a valid path"),
    ("report", "{paper: 3}", "'report.paper'", "expected true or false"),
    ("labels", "{kind: treatments}", "is for classifiers of cover types", "adapter: covertype"),
    ("python_path", "[absent]", "study.yaml:20", "'python_path.0'", "absent is not a folder"),
    ("python_path", "[study.yaml]", "'python_path.0'", "is not a folder"),
    ("python_path", "[loop]", "'python_path.0'", "is not a folder"),
    ("python_path", f"[{'x' * 5000}]", "'python_path' has 5000 bytes"),
    ("data", "shapes3d", "study.yaml:2", "'data'", "expected a section of keys and values"),
    ("data", "[adapter, shapes3d]", "'data'", "expected a section"),
    ("data.adapter", "[shapes3d]", "'data", "unknown adapter"),
    (
        "data.sources",
        "1000000000",
        "study.yaml:4",
        "'data.sources'",
        "less than or equal to 480000",
    ),
    ("data.sources", "400000", "study.yaml:4", "for 400000 scenes; expected at most the 240000"),
    ("data.sources", "true", "'sources' is true", "expected a number"),
    ("data.seed", "-1", "'data.seed'", "greater than or equal to 0"),
    ("data.seed", "99999999999", "'data.seed'", "less than or equal to 4294967295"),
    ("data.changes", "{wall_hue: 0}", "study.yaml:6", "map 0 of wall_hue; expected a number: 1, 2"),
    ("data.changes", "{wall_hue: [[1, 2, 0]]}", "map [1, 2, 0] of wall_hue", "its own inverse"),
    ("data.changes", "{wall_hue: 1.5}", "map 1.5 of wall_hue", "from 3 to 4294967295, the seed"),
    ("data.changes", "{shape: 2}", "study.yaml", "unknown map 2 of shape", "there are 1, and"),
    ("data.changes", "{wall_hue: [1, 1]}", "a map of wall_hue is given twice"),
    ("data.changes", "{wall_hue: [true]}", "'data.changes", "map True of wall_hue"),
    ("data.changes", "{wall_hue: []}", "no pairs"),
    ("data.split", "held_out", "'data.split'", "'train', 'validation', 'test' or 'all'"),
    ("data.split", "test", "'seed' needs 'split: all'"),
    ("data.dynamic", "5", "study.yaml", "'dynamic' is 5; expected at most 'sources': 4"),
    ("data", FEW % "shapes3d, changes: {orientation: 1}", "data.sources'", "the split test that"),
    ("data", FEW % "shapes3d_context", "study.yaml:2", "the 12204 of the split test with a"),
    ("data", "{adapter: shapes3d_context, wall_maps: [3]}", "data.wall_maps.0'", "be 1 or 2"),
    ("data", "{adapter: shapes3d_context, wall_maps: [2, 2]}", "a map is given twice"),
    ("data", "{adapter: shapes3d_context, object_maps: []}", "'data.object_maps'", "at least 1"),
    ("data.images", "absent.h5", "absent.h5 cannot be read: No such file", "'images: rendered'"),
    ("data.images", "pipe.yaml", "it is a pipe, not a file", "expected 3dshapes.h5"),
    ("data.images", "study.yaml", "study.yaml (", "bytes) cannot be read", "267,573,662 bytes"),
    ("data.changes", "{wall_hue: true}", "expected a number"),
    ("data.changes", "{nonsense: 1}", "nonsense"),
    ("data.changes", "{}", "no pairs"),
    ("data", FEATURES % "grid", "absent is not a folder; expected one of images"),
    (
        "data",
        FEATURES % "cells",
        "'data",
        "'cells'",
        "unknown kind 'cells'; known: coco, grid, label_maps, masks",
    ),
    ("data", FEATURES % "coco", "'data", "file"),
    ("data", FEATURES % "coco, file: a.json, boxes: true", "'as_masks'"),
    ("data", FEATURES % "coco, file: a.json, annotations: turned", "'stored' or 'upright'"),
    ("data", FEATURES % "coco, file: a.json, skip_invalid: some", "skip_invalid"),
    ("data", FEATURES % "label_maps, files: '{image}.png', names: [a], ignore: [0]", "ignore.0"),
    ("data", FEATURES % "grid, annotations: stored", "annotations"),
    ("data", FEATURES % "grid, side: true", "'side' is true", "expected a number"),
    ("data", FEATURES % "grid, side: 9", "less than or equal to 8"),
    ("score", "class_probability", "'score'", "expected a section"),
    ("score.kind", "[a]", "'score", "unknown"),
    ("score.classes", "1", "'score.classes'", "greater than 1"),
    ("score.classes", "100000000000", "'score.classes'", "less than or equal to 1000000"),
    ("score.target", "false", "'target' is false", "expected a number"),
    ("score.target", "2", "2 classes: expected 0 to 1"),
    ("score.target", "cube", "'target' is 'cube', and nothing names such a class; name them with"),
    ("paths", "[]", "'paths'"),
    ("paths", "{}", "'paths'", "at least 1"),
    ("paths.blend.sigma", "1.0e+300", "paths.blend'", "sigma is 1e+300", "0 to 1000"),
    ("paths.blend.sigma", "-1", "sigma is -1", "0 to 1000"),
    ("paths.blend.sigma", "true", "'sigma' is true", "expected a number"),
    ("paths.blend.sigma", ".nan", "'paths.blend.sigma'", "found '.nan'"),
    ("paths.blend.stages", "100000000", "paths.blend", "10000 at most"),
    ("paths.p", "{kind: patches, side: 7, sigma: 1}", "multiples of 'side', which is 7"),
    ("paths.p", "{kind: patches, side: 64, sigma: 1}", "multiples of 'side', which is 64"),
    ("paths.p", "{kind: patches, side: 100000}", "paths.p'", "side is 100000", "1 to 256"),
    ("paths.p", "{kind: patches, side: true}", "'side' is true"),
    ("paths.p", "{kind: patches, sigma: 1.0e+9}", "sigma is 1000000000.0"),
    ("paths.r", "{kind: removal, side: 99}", "side is 99", "1 to 64 features"),
    ("paths.r", "{kind: removal, sigma: 1.0e+9, baseline: blur}", "sigma is 1000000000.0"),
    ("paths.r", "{kind: removal, radius: 1000000000, baseline: blur}", "radius 1000000000"),
    ("paths.g", "{kind: gaussian, geometry: power, beta: 1.0e+9}", "from 0 to 100"),
    ("paths.g", "{kind: gaussian, reference: absent.st}", "absent.st"),
    ("paths.g", "{kind: gaussian, reference: pipe.yaml}", "pipe.yaml"),
    ("models", "model", "'models'"),
    ("models", "[]", "give 'models' (a list of cards)"),
    ("models.0", "model", "'models.0'", "expected a section"),
    ("models.0.id", "2026-01-01", "study.yaml:7", "'models.0.id'", "found the date"),
    ("models.0.source", "[endpoint]", "unknown source"),
    ("models.0.url", "file:///etc/hostname", "'models.0.url'", "expected an http://"),
    ("models.0.url", "http://127.0.0.1:99999/", "'models.0.url'"),
    ("models.0.timeout_seconds", "1.0e+9", "less than or equal to 86400"),
    ("models.0.timeout_seconds", "0", "greater than 0"),
    ("models.0.retries", "1000000000", "less than or equal to 1000"),
    ("models.0.retries", "true", "'retries' is true"),
    ("models.0.backoff_seconds", ".inf", "'models.0.backoff_seconds'", "found '.inf'"),
    ("models.0.rows_per_request", "0", "greater than 0"),
    ("models.0", {**NETWORK, "mean": "[.nan]"}, "'models.0.mean.0'", "found '.nan'"),
    ("models.0", {**NETWORK, "std": "[.nan]"}, "'models.0.std.0'", "found '.nan'"),
    ("models.0", {**NETWORK, "std": "[0]"}, "'models.0.std.0'", "0.000001 (found 0)"),
    ("models.0", {**NETWORK, "mean": "[true]"}, "'mean' is true", "expected a number"),
    ("models.0", {**NETWORK, "input_size": 99999}, "less than or equal to 16384"),
    ("models.0", {**NETWORK, "weights": "w" * 5000}, "'weights' has 5000 bytes"),
    ("models.0", {**NETWORK, "weights": "pipe.safetensors"}, "it is a pipe, not a file"),
    ("models.0", {**NETWORK, "weights": "absent.st"}, "absent.st", "expected .safetensors"),
    (
        "models.0",
        {**NETWORK, "arguments": "[1]"},
        "'models.0.arguments'",
        "expected keys and values",
    ),
    ("models.0", {**NETWORK, "training": {"recipe": "[a]"}}, "recipe"),
    ("models.0", {**NETWORK, "training": {**RECIPE, "epochs": 10**9}}, "equal to 100000"),
    ("models.0", {**NETWORK, "training": {**RECIPE, "seed": 10**12}}, "equal to 4294967295"),
    ("models.0", {**NETWORK, "training": {**RECIPE, "learning_rate": 1e9}}, "equal to 100"),
    ("models.0", {**NETWORK, "training": {**TASK, "task": "colour"}}, "task", "object_color"),
    ("models.0", {**NETWORK, "training": {**TASK, "scenes": 10**6}}, "equal to 160000"),
    ("models.0", {**NETWORK, "training": {**TASK, "epochs_at_most": 3}}, "less than 'epochs', 20"),
    ("models.0", {**NETWORK, "training": {**TASK, "sampling": "cells", "scenes": 12}}, "of 8"),
    ("models.0", {**NETWORK, "training": {**RECIPE, "scenes": 30_000}}, "there are 24000 twins"),
    ("models.0", {**NETWORK, "training": VARIANT}, "variant", "'robust', 'neutral' or 'fragile'"),
    ("registry", "zoo", "'registry'", "expected a section"),
    ("registry", "{kind: [folder]}", "'registry", "unknown"),
    ("registry", "{kind: mlflow, uri: 'http://x', timeout_seconds: 1.0e+9}", "equal to 86400"),
    ("registry", "{kind: mlflow, uri: 'http://x', cards: {net: 3}}", "registry.cards.net"),
    ("registry", "{kind: mlflow, uri: 'http://x', trust: all}", "registry.trust"),
    ("registry", "{kind: mlflow, uri: 'http://x', write_back: {report: x}}", "expected an http://"),
    ("registry", "{kind: mlflow, uri: 'http://x', write_back: {retries: 1.0e+9}}", "to 1000"),
    ("gates", "{evidence: {at_most: .inf}}", "'gates.evidence.at_most'", "found '.inf'"),
    ("gates", "{evidence: {increase: true}}", "'increase' is true", "expected a number"),
    ("gates", "{evidence: {increase: 1, confidence: 2}}", "confidence'", "less than 1"),
    ("gates", "{evidence: 1}", "'gates.evidence': expected keys and values (found 1)"),
    ("gates", "{evidence: {at_most: five}}", "at_most': expected a number (found 'five')"),
    ("gates", "{evidence: [{at_most: 1}, {at_mots: 1}]}", "'gates.evidence.1", "'at_most'"),
    ("gates", "{evidence: []}", "'gates.evidence': expected a gate, or a list of them"),
    ("alerts", "{webhook: {url: 'http://x', retries: 100000}}", "less than or equal to 1000"),
    ("alerts", "{webhook: [{url: 'http://x'}, {url: 'x'}]}", "'alerts.webhook.1.url'", "address"),
    ("alerts", "{webhook: {url: 'http://x', format: mail}}", "'alerts.webhook.format'", "'teams'"),
    ("alerts", "{command: []}", "'alerts.command'", "at least 1 item"),
    ("alerts", "{command: 'mail me; rm -r .'}", "'alerts.command'", "expected a list"),
    ("alerts", "{command: [a], command_seconds: 0}", "greater than 0"),
    ("alerts", "{remind: daily}", "'alerts.remind'", "pattern"),
    ("compare_with", "best", "'compare_with' needs a 'registry'"),
    ("attributions.a", "{kind: smooth_grad, samples: 10000000}", "less than or equal to 10000"),
    ("attributions.a", "{kind: smooth_grad, std: .inf}", "found '.inf'"),
    ("attributions.a", "{kind: rise, probability: 2}", "less than or equal to 1"),
    ("attributions.a", "{kind: occlusion, grid: true}", "'grid' is true"),
    ("attributions.a", "{kind: occlusion, value: [1.0e+300]}", "less than or equal to 1000000"),
    ("attributions.a", "{kind: occlusion, baseline: [0.5]}", "'constant', 'mean', 'blur' or"),
    ("attributions.a", "{kind: integrated_gradients, rule: simpson}", "'gauss_legendre' or"),
    ("attributions.a", "{kind: gradient_shap, samples: 0}", "greater than 0"),
    ("attributions.a", "{kind: smooth_grad, bank: shared, seed: 1.0e+12}", "seed'"),
    ("attributions.a", "{kind: input_x_gradient}", "study.yaml:20", "and model e (source: endp"),
    ("attributions.a", "{kind: kernel_shap, samples: 7}", "multiple of 2"),
    ("attributions.a", "{kind: kernel_shap, form: exact}", "'layers' or 'repeats'"),
    ("attributions.a", "{kind: part_lime, samples: 1.0e+9}", "less than or equal to 100000"),
    ("attributions.a", "{kind: part_lime}", "attribution a (kind: part_lime)", "has none"),
    ("attributions.a", "{kind: rise, own_score: {kind: odd}}", "own_score", "unknown kind 'odd'"),
    ("attributions.a", "{kind: rise, own_score: 3}", "own_score", "expected a section"),
    ("baselines.b", "{kind: lime, samples: 1000000000}", "less than or equal to 1000000"),
]
"""A dotted key, what stands there, and the words that it is refused with."""


@pytest.fixture
def plan(monkeypatch, tmp_path):
    """Plan a study of some text, beside a pipe and a link to itself."""

    def planned(text):
        path = tmp_path / "study.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.mkfifo(tmp_path / "pipe.safetensors")
        os.mkfifo(tmp_path / "pipe.yaml")
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        study = load_study(path)
        return plan_audit(study, study.pair_set())

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NUMBER", "1e999")
    return planned


def refuse(plan, text, words):
    """Check that a study is refused with all words, briefly."""
    with pytest.raises(BadInput) as refusal:
        plan(text)
    for word in words:
        assert word in str(refusal.value)
    assert len(str(refusal.value)) < 8000


def test_the_study_itself_can_be_planned(plan):
    assert plan(study()).work.units


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_that_is_no_study_is_refused(plan, name):
    text, *words = TEXTS[name]
    refuse(plan, text, words)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [(key, value, words) for key, value, *words in VALUES],
    ids=[f"{number}-{key}" for number, (key, *_) in enumerate(VALUES)],
)
def test_a_value_that_cannot_be_meant_is_refused(plan, key, value, words):
    if isinstance(value, dict):
        network = {"id": "n", "family": "f"} | value
        if "training" in value:
            del network["weights"]
        dumped = yaml.safe_dump(network, default_flow_style=True, width=10**9)
        value = dumped.strip().replace("'[", "[").replace("]'", "]")
    refuse(plan, study(key, value), words)


def test_models_whose_names_differ_in_capitals_alone_are_refused(plan):
    other = yaml.safe_dump(ENDPOINT | {"id": "E"}, default_flow_style=True)
    text = study().replace("models:\n", f"models:\n- {other}")
    refuse(plan, text, ["study.yaml", "'models'", "E, e"])


@pytest.mark.parametrize("days", ["inf", "nan", "1e300", "40000", "-1"])
def test_garbage_of_no_age_is_refused(decaf, days):
    done = decaf("gc", "--older-than", days)
    assert done.returncode == 2
    assert "older-than" in done.stderr


def test_runs_of_no_age_are_refused(decaf):
    refused(decaf("gc", "--keep", "99999d"), "--keep 99999", "at most 36500")


@pytest.mark.parametrize("path", [".", "/dev/zero", "pipe", "x" * 5000])
def test_what_is_no_file_is_not_read(decaf, tmp_path, path):
    os.mkfifo(tmp_path / "pipe")
    refused(decaf("plan", path), "cannot be read", "give the path of a YAML file")
