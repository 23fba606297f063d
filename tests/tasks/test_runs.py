"""The newest run of a study, and the keys in which a study differs from it."""

import pytest
from in_process import compute
from small_studies import of_scenes, untrained

from decaf.plan.study import Study
from tasks.runs import list_changed_keys, read_newest_run
from warehouse import storage

PATHS = {"blend": {"kind": "blend", "sigma": 1.0}, "patch": {"kind": "patches", "side": 4}}
"""Paths without stages of their own."""
FINE = {"blend": PATHS["blend"], "patch": {"kind": "patches", "side": 8}}


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """Content of a study that has run."""
    folder = tmp_path_factory.mktemp("study")
    models = [untrained(folder, name, seed) for seed, name in enumerate(("one", "two"))]
    place = {"warehouse": str(folder / "warehouse")}
    content = of_scenes(folder, models, sources=4, paths=PATHS, stages=5, epsilon=0.1, **place)
    compute(Study.model_validate(content))
    return content


@pytest.mark.parametrize(
    ("changed", "keys"),
    [
        ({}, []),
        ({"epsilon": 0.5}, ["epsilon"]),
        ({"stages": 9}, ["stages"]),
        ({"stages": [0, 0.25, 0.5, 0.75, 1]}, []),
        ({"stages": {"until": 0.1, "at_most": 9}}, ["stages"]),
        ({"paths": FINE}, ["paths"]),
        ({"paths": {"blend": PATHS["blend"]}}, ["paths"]),
        ({"paths": {name: path | {"stages": 5} for name, path in PATHS.items()}, "stages": 9}, []),
        ({"names": {"blend": "fading in"}, "epsilon": 0.2}, ["epsilon", "names"]),
        ({"workspace": "elsewhere", "batch_size": 3, "report": False}, []),
    ],
)
def test_keys_that_a_run_does_not_show(content, changed, keys):
    study = Study.model_validate(content | changed)
    run = read_newest_run(storage.open(study.warehouse), study.study)
    assert list_changed_keys(run, study) == keys


def test_models_and_score_that_a_run_does_not_show(content):
    score = content["score"] | {"direction": "decreasing"}
    study = Study.model_validate(content | {"models": content["models"][:1], "score": score})
    run = read_newest_run(storage.open(study.warehouse), study.study)
    assert list_changed_keys(run, study) == ["models", "score"]
