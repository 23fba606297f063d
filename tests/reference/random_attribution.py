"""Random studies of attribution methods, and what their tables should say, by numpy and scipy."""

import hashlib
import itertools
import json
from datetime import UTC, datetime

import numpy as np
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
            "stg_runs": [run | {"config": json.dumps({"data": data, "score": {"classes": 1000}})}],
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
