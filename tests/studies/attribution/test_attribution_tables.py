"""The attribution tables against numpy and scipy, on random studies of all three protocols."""

import numpy as np
import pytest
from random_attribution import (
    LACKING,
    METRICS,
    MODELS,
    NOT_FINITE,
    OPERATORS,
    PARTS,
    SINGLE,
    WRONG,
    Study,
    agreement,
)
from random_audit import near, rows_of


@pytest.fixture(scope="module", params=OPERATORS)
def study(request):
    return Study(request.param)


@pytest.fixture
def asked(study, catalogue):
    """Rows of a view; each is read once for all tests of a study."""
    opened = []

    def rows(view):
        if view not in study.answers:
            opened.extend([] if opened else [catalogue(study.tables())])
            study.answers[view] = rows_of(opened[0].sql(f"FROM {view}"))
        return study.answers[view]

    return rows


def only(protocol):
    return pytest.mark.parametrize("study", [protocol], indirect=True)


def test_scores_and_targets(study, asked):
    found = {}
    for row in asked("core_attribution_scores"):
        assert row["study"] == "s"
        key = row["model_id"], row["image_id"], row["method"]
        found.setdefault(key, {})[row["feature"]] = row["score"]
    for model, image in study.cells:
        for method, scores in study.scores(model, image).items():
            own = found[model, image, method]
            assert [own[feature] for feature in sorted(own)] == near(scores.tolist())
    targets = asked("core_attribution_targets")
    assert len(targets) == 2 * len(study.features) * len(OPERATORS[study.protocol])
    for row in targets:
        part = PARTS[row["feature"] - 1]
        of = row["model_id"], row["image_id"], row["operator"], part
        assert row["effect"] == near(study.drop(*of)), of
        assert row["protocol"] == study.protocol


def test_quality_of_every_image(study, asked):
    found = asked("core_attribution_quality")
    assert {(row["model_id"], row["image_id"], row["method"]) for row in found} == {
        (model, image, method)
        for model, image in study.cells
        for method in study.scores(model, image)
        if image != SINGLE
    }
    for row in found:
        of = row["model_id"], row["image_id"], row["method"]
        expected = study.quality(*of)
        assert {name: row[name] for name in METRICS} == {
            name: near(expected[name]) for name in METRICS
        }, of
        assert row["rank_correlation"] == near(expected["rank"])
        assert row["is_supported"] == (of[1] in study.supported(of[0]))


@only("held_out")
def test_support_and_reasons(study, asked):
    reasons = {
        (row["model_id"], row["image_id"]): row["reason"]
        for row in asked("core_attribution_support")
    }
    assert reasons.keys() == set(study.cells)
    for model, image in study.cells:
        is_kept = image in study.supported(model)
        assert (reasons[model, image] is None) == is_kept, (model, image)
    assert reasons["b", SINGLE] == "fewer than two features"
    assert reasons["a", WRONG] == "wrong class"
    assert reasons["a", LACKING] == "incomplete: rise_6000"
    assert reasons["b", NOT_FINITE] == "incomplete: ig_32"
    counts = {
        (row["model_id"], row["statistic"], row["left_out"]): row["estimate"]
        for row in asked("paper_attribution_support")
    }
    assert counts[None, "model_images", None] == 16
    assert counts["a", "supported_images", None] == len(study.supported("a"))
    assert counts[None, "left_out_images", "wrong class"] == 1
    assert counts["a", "incomplete_images", "rise_6000"] == 1


def check(row, replicates):
    limits = np.quantile(replicates[1:], [0.05, 0.95, 0.025, 0.975])
    names = ("estimate", "lower_90", "upper_90", "lower_95", "upper_95")
    assert [row[name] for name in names] == near([replicates[0], *limits]), row


def test_comparison_and_gains_are_those_of_the_authors_draws(study, asked):
    drawn = {method: study.replicates(method) for method in ("decaf_5", "endpoint_m", "ig_32")}
    places = {model: place for place, model in enumerate(MODELS)}
    checked = 0
    for row in asked("paper_attribution_comparison"):
        if row["method"] in drawn:
            own = drawn[row["method"]]
            check(
                row, own.mean(axis=0) if row["model_id"] is None else own[places[row["model_id"]]]
            )
            checked += 1
            values = [study.values(model, row["method"]) for model in MODELS]
            counts = [int((~np.isnan(one)).sum()) for one in values]
            given = row["model_id"]
            assert row["image_count"] == (sum(counts) if given is None else counts[places[given]])
    assert checked == 9
    rows = asked("paper_attribution_endpoint")
    gains = {"decaf_5": ("endpoint_m", 1), "endpoint_m": ("ig_32", 1)}
    for row in rows:
        if row["statistic"] == "spearman_gain" and row["method"] in gains:
            gain = drawn[row["method"]] - drawn[row["against"]]
            given = row["model_id"]
            check(row, gain.mean(axis=0) if given is None else gain[places[given]])
        if row["statistic"] == "model_wins" and row["method"] in gains:
            gain = drawn[row["method"]] - drawn[row["against"]]
            assert row["estimate"] == (gain[:, 0] > 0).sum()
    best = {row["model_id"]: row["estimate"] for row in rows if row["statistic"] == "best_gain"}
    for place, model in enumerate(MODELS):
        grids = [study.values(model, f"decaf_{count}") for count in (3, 5, 9)]
        expected = max(np.nanmean(one) for one in grids) - drawn["endpoint_m"][place, 0]
        assert best[model] == near(expected)


@only("held_out")
def test_metrics_and_agreement_are_means_over_images_then_models(study, asked):
    for row in asked("paper_attribution_metrics"):
        by_model = [
            np.mean([
                study.quality(model, image, row["method"])[row["statistic"]]
                for image in study.supported(model)
            ])
            for model in MODELS
        ]  # fmt: skip
        assert row["estimate"] == near(np.mean(by_model)), row
    rows = asked("paper_attribution_rank_agreement")
    assert len(rows) == 6 * 5 // 2
    for row in rows:
        sides = [
            [agreement(*(study.scores(model, image)[row[side]] for side in ("method", "against")))
             for image in study.supported(model)]
            for model in MODELS
        ]  # fmt: skip
        expected = np.mean([np.mean([one["spearman"] for one in own]) for own in sides])
        assert row["estimate"] == near(expected), row


@only("native")
def test_single_deletion_skips_constant_rows(study, asked):
    rows = asked("paper_attribution_native")
    assert len(rows) == 2 * 6 * 3
    for row in rows:
        values = study.values(row["model_id"], row["method"])
        if row["statistic"] == "skipped_images":
            assert row["estimate"] == np.isnan(values).sum()
        else:
            assert row["estimate"] == near((1 + np.nanmean(values)) / 2)
    assert sum(row["estimate"] for row in rows if row["statistic"] == "skipped_images") > 0


def test_the_benchmark_is_known_and_its_values_stand_beside(study, asked):
    (row,) = asked("core_attribution_studies")
    benchmark = {"deletion": "imagenet", "held_out": "funnybirds", "native": "funnybirds_native"}
    assert row["benchmark"] == benchmark[study.protocol]
    published = {
        (row["method"], row["model_id"]): row["published"]
        for row in asked("paper_attribution_comparison")
    }
    expected = {"deletion": (0.644, 0.105), "held_out": (0.293, 0.475), "native": (0.901, 0.850)}
    assert (published["decaf_9", "a"], published["decaf_9", "b"]) == expected[study.protocol]
    (row,) = asked("paper_attribution_data")
    assert not row["is_official"]
    assert "8 images and 2 models, not " in row["why"]
