"""Attribution methods as units: of features by coalitions, halved batches, what does not fit."""

import featured_images
import in_process
import pytest
import torch
from featured_images import COUNT, settings
from pydantic import ValidationError
from small_studies import untrained
from warehouse_answers import failed_checks, fetched

from decaf.errors import BadInput, DataError
from decaf.plan.study import Study
from decaf.scoring.image_scores import CountedScore
from tasks.attribution_rows import count_rows_left
from tasks.estimate import estimate_of, work_of
from warehouse import storage


@pytest.fixture
def photos(tmp_path):
    return featured_images.photos(tmp_path / "photos")


COALITIONS = {
    "part": {"kind": "part_occlusion"},
    "shapley": {"kind": "exact_shapley"},
    "kernel": {"kind": "kernel_shap", "form": "repeats", "samples": 20},
    "blurred": {"kind": "part_occlusion", "baseline": "blur", "sigma": 3.0, "radius": 5},
    "probability": {"kind": "part_occlusion"},
}
REGION_SCORES = "SELECT method, pair_id, region_score FROM core_attributions ORDER BY ALL"
GAMES = """
    SELECT name, item_count, forward_rows, backward_rows, naive_rows FROM stg_costs
    WHERE kind = 'attribute' ORDER BY started_at
"""


def test_coalitions_are_shared_by_methods_of_one_game(photos, tmp_path):
    """Four images with three parts, of which one lies nowhere in one image: 8, 8, 8 and 4."""
    features = featured_images.mask_files(tmp_path / "masks", photos)
    own_score = {"kind": "class_probability", "classes": 2}
    methods = COALITIONS | {"probability": COALITIONS["part"] | {"own_score": own_score}}
    given = settings(tmp_path, features, [untrained(tmp_path, "cnn")])
    given |= {"score": {"kind": "target_logit", "classes": 2}, "epsilon": 1e-9}
    study = Study(**given | {"attributions": methods})
    names = "part, shapley, kernel", "blurred", "probability"
    # What lies nowhere is counted before masks are read: 4 x 8 rows, not 28.
    expected = [(names[0], 32, 0, 4 * (4 + 8 + 20)), (names[1], 16, 0, 16), (names[2], 16, 0, 16)]
    plan = in_process.planned(study)
    assert [(", ".join(own), *rows) for own, *rows in count_rows_left(plan)] == expected
    in_process.compute(study)
    costs = fetched(study.warehouse, GAMES)
    assert costs == [
        ("part", 4, 28, 0, 3 * (4 + 8 + 20) + 3 + 4 + 20),
        ("blurred", 4, 15, 0, 15),
        ("probability", 4, 15, 0, 15),
    ]
    found = fetched(study.warehouse, REGION_SCORES)
    assert len(found) == 5 * 3 * COUNT
    of_method = {name: {p: q for m, p, q in found if m == name} for name in methods}
    # Hiding a feature is what the pair's own path ends with.
    effects = dict(fetched(study.warehouse, "SELECT pair_id, endpoint_delta FROM core_profiles"))
    assert of_method["part"] == pytest.approx(effects, rel=1e-4, abs=1e-6)
    assert {of_method[name]["0/bird-2.png__wing"] for name in methods} == {0}, "lies nowhere"
    assert max(map(abs, of_method["probability"].values())) < 1
    assert not any(one.forward for one in count_rows_left(in_process.planned(study)))
    assert failed_checks(study.warehouse) == []
    # Methods of one commit are known to have taken an equal share of its time.
    works = [work_of("cnn", "attribute", name) for name in names[0].split(", ")]
    store = storage.open(study.warehouse)
    shares = {estimate_of(store, study).seconds({work: 1}) for work in works}
    assert len(shares) == 1
    assert shares != {None}
    # A method alone scores its own coalitions, with equal results.
    apart = {"warehouse": str(tmp_path / "apart")}
    for name in ("part", "shapley", "kernel"):
        alone = Study(**given | apart | {"attributions": {name: methods[name]}})
        in_process.compute(alone)
        scores = {p: q for _, p, q in fetched(alone.warehouse, REGION_SCORES)}
        assert scores == pytest.approx(of_method[name], rel=1e-4, abs=1e-6)
    assert [row[2] for row in fetched(tmp_path / "apart", GAMES)] == [15, 28, 28]


@pytest.mark.parametrize(
    ("data", "methods", "words"),
    [
        (
            {"adapter": "shapes3d", "sources": 2},
            {"part": COALITIONS["part"]},
            r"attribution part \(kind: part_occlusion\) .* pair",
        ),
        (
            {"features": {"kind": "grid"}},
            {"exact": COALITIONS["shapley"]},
            "16 features.* exact_shapley .* 12",
        ),
        (
            {"features": {"kind": "grid"}},
            {"map": {"kind": "input_x_gradient", "own_score": {"kind": "superclass_probability"}}},
            "own_score",
        ),
    ],
)
def test_methods_that_do_not_fit_the_data_are_refused_by_the_plan(
    data, methods, words, photos, tmp_path
):
    given = settings(tmp_path, {"kind": "grid"}, [untrained(tmp_path, "cnn")])
    given["data"] = data if "adapter" in data else given["data"] | data
    if "adapter" in data:
        given["paths"] = {"blend": {"kind": "blend"}}
    with pytest.raises((BadInput, ValidationError), match=words):
        in_process.planned(Study(**given | {"attributions": methods}))


def test_a_batch_whose_gradients_do_not_fit_is_halved(photos, tmp_path, monkeypatch):
    given = settings(tmp_path, {"kind": "grid", "side": 2}, [untrained(tmp_path, "cnn")])
    given |= {"attributions": {"gradient": {"kind": "input_x_gradient"}}, "batch_size": 4}
    whole = Study(**given)
    in_process.compute(whole)
    taken = []

    def fits_one(self, gradient):
        taken.append(len(gradient))
        if len(gradient) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(CountedScore, "_count_backward", fits_one)
    halved = Study(**given | {"warehouse": str(tmp_path / "halved")})
    in_process.compute(halved)
    assert taken == [4, 2, 1, 1, 1, 1]
    found, expected = (
        [q for *_, q in fetched(one.warehouse, REGION_SCORES)] for one in (halved, whole)
    )
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-7)


def test_a_class_that_a_method_of_its_own_score_has_not_is_refused(photos, tmp_path):
    own_score = {"kind": "target_logit", "classes": 2}
    given = settings(tmp_path, {"kind": "grid", "side": 2}, [untrained(tmp_path, "cnn")])
    given |= {"score": given["score"] | {"classes": 3}}
    given |= {"attributions": {"part": COALITIONS["part"] | {"own_score": own_score}}}
    (tmp_path / "photos" / "2").mkdir()
    (tmp_path / "photos" / "0" / "bird-0.png").rename(tmp_path / "photos" / "2" / "bird-0.png")
    with pytest.raises(DataError, match="class 2.* target_logit"):
        in_process.planned(Study(**given))
