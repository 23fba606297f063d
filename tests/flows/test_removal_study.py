"""Features of images through the command line: run, resumed, asked for, refused."""

import featured_images
import pytest
from ended_commands import refused, succeeded
from featured_images import COUNT, NAMES
from warehouse_answers import fetched


@pytest.fixture
def features(study, tmp_path):
    """The small study over four images with three parts each, one of which lies nowhere."""
    names = featured_images.photos(tmp_path / "photos")
    coco = featured_images.coco(tmp_path / "parts.json", names)
    data = {"adapter": "image_features", "images": str(tmp_path / "photos"), "features": coco}
    paths = {"decaf-3": {"kind": "removal", "stages": 3}, "decaf-5": {"kind": "removal"}}
    methods = {"gradient": {"kind": "input_x_gradient"}}
    changed = {"data": data, "paths": paths, "stages": 5, "attributions": methods}
    return study | changed | {"epsilon": 1e-7, "report": str(tmp_path / "report.html")}


@pytest.mark.slow
def test_features_are_audited_resumed_and_shown(features, write, decaf, prefect_server, tmp_path):
    first = features | {"paths": {"decaf-3": features["paths"]["decaf-3"]}}
    succeeded(decaf("run", write(first), **prefect_server))
    config = write(features)
    assert "empty masks: wing (1)\n" in succeeded(decaf("data", config))
    plan = succeeded(decaf("plan", config, "--explain"))
    assert "part changed" not in plan
    assert "decaf-3, the first that reveals features, without decaf-5" in " ".join(plan.split())
    succeeded(decaf("run", config, **prefect_server))
    assert "nothing to do" in succeeded(decaf("run", config, **prefect_server))
    assert succeeded(decaf("check", "-w", tmp_path / "warehouse"))
    top = "SELECT image_id, feature_name, evidence, rank FROM out_feature_evidence WHERE "
    query = top + "model_id = 'small_cnn' AND path = 'decaf-5' AND rank <= 3"
    assert "0/bird-2.png" in succeeded(decaf("sql", query, "-w", tmp_path / "warehouse"))
    hidden = fetched(
        tmp_path / "warehouse",
        "SELECT DISTINCT evidence, fragility, endpoint_delta FROM out_feature_evidence "
        "WHERE image_id = '0/bird-2.png' AND feature_name = 'wing'",
    )
    assert hidden == [(0, 0, 0)]
    (remark,) = fetched(
        tmp_path / "warehouse", "SELECT DISTINCT remark FROM core_attribution_remarks"
    )
    assert "decaf-3, not decaf-5" in remark[0]
    (count,) = fetched(tmp_path / "warehouse", "SELECT count(*) FROM out_feature_evidence")
    assert count == (2 * 2 * COUNT * len(NAMES),)
    report = (tmp_path / "report.html").read_text()
    assert all(name in report for name in NAMES)


def test_data_and_paths_that_do_not_fit_are_refused(features, write, decaf, tmp_path):
    features["paths"] |= {"blend": {"kind": "blend"}}
    refused(decaf("plan", write(features)), "path blend (kind: blend)", "use kind: removal")
    del features["paths"]["blend"]
    (tmp_path / "parts.json").write_text('{"images": [], "annotations": [{}]}')
    refused(decaf("plan", write(features)), "parts.json", "'categories' is not a list of objects")
