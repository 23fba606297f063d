"""The attribution tables against numpy and scipy, on random studies of all three protocols."""

import hashlib
import itertools
import json
from datetime import UTC, datetime

import numpy as np
import pytest
from random_audit import near, rows_of
from scipy.stats import pearsonr, spearmanr

from decaf.routing.profiles import profile

EPSILON = 0.02
STAGES = np.linspace(0, 1, 9)
PARTS = ("beak", "eye", "foot", "tail")
MODELS = {"a": "torchvision:vgg16", "b": "timm:vit_base_patch16_224.augreg_in1k"}
IMAGES = [f"image-{number}" for number in (10, 2, 1, 3, 4, 5, 6, 7)]
CLASS_OF = {image: place % 3 for place, image in enumerate(IMAGES)}
SINGLE, WRONG, LACKING, CONSTANT, NOT_FINITE = IMAGES[:5]
METHODS = ("ig_32", "rise_6000")
OPERATORS = {"deletion": ["deletion"], "held_out": ["telea", "texture"], "native": ["native"]}
WHERE = {"study": "s", "run_id": "r"}
METRICS = ("spearman", "pearson", "sign_agreement", "normalized_l1", "top1_agreement")


class Study:
    """Rows of a random study, and what its tables should say."""

    def __init__(self, protocol):
        self.answers = {}
        self.protocol, self.rng = protocol, np.random.default_rng(len(protocol))
        self.parts = {image: PARTS[:1] if image == SINGLE else PARTS for image in IMAGES}
        self.cells = list(itertools.product(MODELS, IMAGES))
        self.clean = {
            (model, image): self.rng.integers(0, 32, 3) / 8 for model, image in self.cells
        }
        for (model, image), logits in self.clean.items():
            right = CLASS_OF[image]
            logits[right] = 5 if (model, image) != ("a", WRONG) else -1
        self.pairs, self.predicted = [], {}
        for image, part in self.features:
            self.pairs.append((f"{image} {part}", part, image, image, part))
            for operator in set(OPERATORS[protocol]) - {"deletion"}:
                changed = f"{image}/{operator}/{part}"
                name = f"{operator}__{part}"
                self.pairs.append((f"{image} {name}", name, image, changed, part))
                for model in MODELS:
                    drop = 0 if (model, image) == ("b", CONSTANT) else self.rng.integers(-8, 9) / 8
                    self.predicted[model, changed] = self.clean[model, image] - drop
        revealed = "native__" if protocol == "native" else ""
        self.revealed = [f"{revealed}{part}" for part in PARTS]
        self.responses, self.attributed = {}, {}
        for model, (image, part) in itertools.product(MODELS, self.features):
            r = self.rng.integers(-8, 9, len(STAGES)) / 8
            r[0] = 0
            if protocol == "native":
                r[-1] = self.drop(model, image, "native", part)
            elif (model, image) == ("b", CONSTANT):
                r[-1] = 0.25
            self.responses[model, image, part] = r
            for method in METHODS:
                self.attributed[model, image, part, method] = self.rng.integers(-4, 5) / 4
                if (model, image) == ("b", CONSTANT) and method == "ig_32":
                    self.attributed[model, image, part, method] = 0.1
        del self.attributed["a", LACKING, "eye", "rise_6000"]
        self.attributed["b", NOT_FINITE, "tail", "ig_32"] = float("nan")

    @property
    def features(self):
        return [(image, part) for image in IMAGES for part in self.parts[image]]

    def drop(self, model, image, operator, part):
        own = CLASS_OF[image]
        if operator == "deletion":
            return self.responses[model, image, part][-1]
        return (
            self.clean[model, image][own] - self.predicted[model, f"{image}/{operator}/{part}"][own]
        )

    def scores(self, model, image):
        """Scores of all features by complete method."""
        r = np.array([self.responses[model, image, part] for part in self.parts[image]])
        found = {
            f"decaf_{(8 // step) + 1}": profile(r[:, ::step], STAGES[::step], EPSILON).evidence
            for step in (1, 2, 4)
        }
        found["endpoint_m"] = np.abs(r[:, -1])
        for method in METHODS:
            own = [
                self.attributed.get((model, image, part, method), np.nan)
                for part in self.parts[image]
            ]
            found[method] = np.array(own)
        return {name: own for name, own in found.items() if np.isfinite(own).all()}

    def effects(self, model, image):
        return [
            np.array([self.drop(model, image, operator, part) for part in self.parts[image]])
            for operator in OPERATORS[self.protocol]
        ]

    def supported(self, model):
        """Images of the comparison, in the order of the bootstrap."""
        kept = [
            image
            for image in IMAGES
            if len(self.parts[image]) > 1
            and (model, image) != ("a", WRONG)
            and len(self.scores(model, image)) == 6
        ]
        return sorted(kept)

    def values(self, model, method):
        """What is averaged: by image of the comparison; under the native protocol of all images."""
        if self.protocol == "native":
            images = sorted(i for i in IMAGES if i != SINGLE and method in self.scores(model, i))
            (values,) = ([self.quality(model, i, method)["rank"] for i in images],)
        else:
            values = [self.quality(model, i, method)["spearman"] for i in self.supported(model)]
        return np.array(values)

    def quality(self, model, image, method):
        s = self.scores(model, image)[method]
        found = [agreement(s, g) for g in self.effects(model, image)]
        numbers = {name: np.mean([one[name] for one in found]) for name in METRICS}
        ranks = [one["rank"] for one in found if not np.isnan(one["rank"])]
        return numbers | {"rank": np.mean(ranks) if ranks else np.nan}

    def replicates(self, method):
        """(models, 1 + 1,000) means, the sample's first, drawn as the authors draw."""
        found = []
        for model in MODELS:
            values = self.values(model, method)
            means = [np.nanmean(values)]
            for number in range(1000):
                text = f"8218\0{number}\0{self.dataset}\0{model}"
                word = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
                drawn = np.random.default_rng(word).integers(0, len(values), len(values))
                means.append(np.nanmean(values[drawn]))
            found.append(means)
        return np.array(found)

    @property
    def dataset(self):
        return "imagenet" if self.protocol == "deletion" else "funnybirds"

    def tables(self):
        data = {"adapter": "funnybirds"}
        if self.protocol == "deletion":
            data = {"adapter": "image_features", "features": {"kind": "grid", "side": 2}}
        units = [("predict", "", "q"), ("score", "decaf", "t"), ("route", "decaf", "p")]
        units += [("attribute", method, method) for method in METHODS]
        images = {**self.clean, **self.predicted}
        pair_of = {
            (image, part): pair
            for pair, kind, image, _, part in self.pairs
            if kind in self.revealed
        }
        trajectories = [
            {
                "study": "s",
                "model_id": model,
                "unit_key": f"t{model}",
                "path": "decaf",
                "pair_id": pair_of[image, part],
                "repetition": 0,
                "t": STAGES.tolist(),
                "q_plus": r.tolist(),
                "q_minus": [0.0] * len(r),
            }
            for (model, image, part), r in self.responses.items()
        ]
        profiles = profile(
            np.array([row["q_plus"] for row in trajectories]), STAGES, EPSILON
        ).columns()
        run = WHERE | {"started_at": datetime(2026, 11, 23, tzinfo=UTC), "epsilon": EPSILON}
        run |= {"pairs_digest": "d", "unit_count": 1, "score": '{"target": null}'}
        path = WHERE | {"path": "decaf", "position": 1, "kind": "any", "t": STAGES.tolist()}
        other = WHERE | {"path": "other", "position": 0, "t": [0.0, 1.0], "pair_types": ["none"]}
        return {
            "stg_runs": [run | {"config": json.dumps({"data": data})}],
            "stg_paths": [other, path | {"pair_types": self.revealed}],
            "stg_models": [
                WHERE | {"model_id": model, "position": place, "architecture": name, "family": "f"}
                for place, (model, name) in enumerate(MODELS.items())
            ],
            "stg_run_units": [
                WHERE | {"unit_key": f"{key}{model}", "kind": kind, "name": name}
                | {"model_id": model, "block": 0}
                for model in MODELS
                for kind, name, key in units
            ],
            "stg_pairs": [
                {"study": "s", "pairs_digest": "d", "pair_id": pair, "pair_type": kind}
                | {"source_id": plus, "plus_image": plus, "minus_image": minus}
                | {"class_id": CLASS_OF[plus], "plus_variant": "image", "minus_variant": "image"}
                for pair, kind, plus, minus, _ in self.pairs
            ],
            "stg_features": [
                {"study": "s", "pairs_digest": "d", "pair_id": pair}
                | {"feature": 1 + PARTS.index(part)}
                for pair, *_, part in self.pairs
            ],
            "stg_predictions": [
                {"study": "s", "model_id": model, "unit_key": f"q{model}", "image_id": image}
                | {"class_scores": logits.tolist(), "predicted_class": int(np.argmax(logits))}
                for (model, image), logits in images.items()
            ],
            "stg_trajectories": trajectories,
            "stg_profiles": [
                {name: row[name] for name in ("study", "model_id", "pair_id", "path", "repetition")}
                | {"unit_key": f"p{row['model_id']}"}
                | {name: column[place].item() for name, column in profiles.items()}
                for place, row in enumerate(trajectories)
            ],
            "stg_attributions": [
                {"study": "s", "model_id": model, "unit_key": f"{method}{model}", "pair_id": pair}
                | {"method": method, "region_score": self.attributed[model, image, part, method]}
                for model in MODELS
                for pair, _, image, _, part in self.pairs
                for method in METHODS
                if (model, image, part, method) in self.attributed
            ],
        }  # fmt: skip


def agreement(s, g):
    """Every measure of one image and operator."""
    is_constant = np.ptp(s) == 0 or np.ptp(g) == 0
    rank = np.nan if is_constant else spearmanr(s, g).statistic
    shares = [side / (np.abs(side).sum() or 1) for side in (s, g)]
    best = s == s.max()
    return {
        "rank": rank,
        "spearman": 0 if is_constant else rank,
        "pearson": 0 if is_constant else pearsonr(s, g).statistic,
        "sign_agreement": np.mean(np.sign(s) == np.sign(g)),
        "normalized_l1": np.abs(shares[0] - shares[1]).sum(),
        "top1_agreement": np.mean(g[best] == g.max()),
    }


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
