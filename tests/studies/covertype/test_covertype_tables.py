"""The paper's tables of Covertype in SQL against the library, on 75 units with ties and gaps."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from judging import one_vs_rest, quantile_bins, role_credit, valid_bin_macro, within_bins
from view_tables import VIEWS, define_over, text_rows

from decaf.evaluation.matching import match_units

LABELS = ("evidence", "contradiction", "fragility")
MECHANISMS = ("direct", "invert", "fragile")
COUNTS = (30, 30, 15)
FAMILIES = tuple("abcde")


class Study:
    """Seventy-five labelled models and ten gated ones, and what methods say of them."""

    def __init__(self, columns, seed):
        rng = np.random.default_rng(seed)
        self.classes = rng.permutation(np.repeat(np.arange(3), COUNTS))
        self.labels = self.classes[:, None] == np.arange(3)
        count = len(self.classes)
        self.names = np.array([f"m{number:02d}" for number in range(count)])
        self.family = rng.choice(FAMILIES, count)
        self.scores = rng.integers(0, 6, (count, 3)) / 8 + 0.25 * self.labels
        self.magnitude = rng.integers(1, 30, count) / 20
        self.response = {
            "endpoint_magnitude": rng.integers(1, 9, count) / 8,
            "net_response": rng.normal(size=count),
            "opposed_mass": rng.integers(0, 4, count) / 4,
            "sign_flip_rate": np.where(rng.random(count) < 0.3, np.nan, rng.random(count)),
        }
        self.baselines = {
            "lime": np.where(rng.random(count) < 0.6, np.nan, rng.integers(0, 5, count) / 4),
            "pdp_ale": rng.random(count),
            # One class alone is covered.
            "kernel_shap": np.where(self.classes == 0, rng.random(count), np.nan),
        }
        self.probabilities = rng.dirichlet(np.ones(3), count)
        self.inside = {f"context_{sign}": rng.normal(size=count) for sign in ("minus", "plus")}
        of_minus, of_plus = self.inside.values()
        self.baselines["context_permutation"] = abs(of_plus - of_minus)
        self.columns = columns

    def tables(self):
        named = {"study": "s", "model_id": self.names}
        columns = {"family": self.family, "abs_response": self.magnitude}
        columns |= {"mechanism": np.take(MECHANISMS, self.classes)}
        columns |= {"mechanism_label": np.take(LABELS, self.classes)}
        columns |= dict(zip(LABELS, self.scores.T, strict=True)) | self.response
        names = [f"gate {n}" for n in range(10)]
        gated = pd.DataFrame({"study": "s", "model_id": names, "mechanism": "gate"})
        components = {("pdp_ale", "pdp"): 9.0}  # which is not compared
        for method, values in self.baselines.items():
            if method == "context_permutation":
                components |= {(method, name): inside for name, inside in self.inside.items()}
            else:
                components[method, "mean" if method == "pdp_ale" else "score"] = values
        baselines = [
            pd.DataFrame(named | {"method": method, "component": component, "score": values})
            for (method, component), values in components.items()
        ]
        probes = [
            pd.DataFrame(
                named | {"representation": "decaf_probe", "label": label, "probability": values}
            )
            for label, values in zip(LABELS, self.probabilities.T, strict=True)
        ]
        return {
            "core_covertype_outcomes": pd.concat([pd.DataFrame(named | columns), gated]),
            "core_baselines": pd.concat(baselines).dropna(),
            "core_probe_predictions": pd.concat(probes),
        }

    @property
    def methods(self):
        """Scores of every method, (75, 3) or (75,)."""
        single = {
            "Abs": self.magnitude,
            "M": self.response["endpoint_magnitude"],
            "Net": self.response["net_response"],
            "OppMass": self.response["opposed_mass"],
            "SignFlip": self.response["sign_flip_rate"],
        }
        return {"DECAF": self.scores, "decaf_probe": self.probabilities} | single | self.baselines

    def view(self, name, **more):
        """Rows of a view as dictionaries."""
        given = {name: text_rows(frame) for name, frame in (self.tables() | more).items()}
        with duckdb.connect(config={"threads": 2}) as connection:
            define_over(connection, name, self.columns, given)
            return connection.view(name).to_arrow_table().to_pylist()

    def matched(self, pairs):
        """Rows of the table of matched pairs, by method and statistic."""
        left, right = self.names[np.transpose(pairs)]
        matched = {"study": "s", "position": np.arange(len(pairs))}
        matched |= {"left_model_id": left, "right_model_id": right}
        made = {"study": ["s"], "kind": "matched_pairs", "is_made": True}
        tables = {"core_matched_pairs": matched, "core_analyses": made}
        frames = {name: pd.DataFrame(columns) for name, columns in tables.items()}
        return by(self.view("paper_covertype_matched", **frames), "method", "statistic")


@pytest.fixture(params=[0, 1, 2])
def study(request, columns):
    return Study(columns, request.param)


def by(rows, *names):
    return {tuple(row[name] for name in names): row for row in rows}


def test_readout(study):
    found = by(study.view("paper_covertype_readout"), "method", "label", "statistic")
    methods = study.methods
    assert {method for method, _, _ in found} == methods.keys()
    for method, scores in methods.items():
        expected = one_vs_rest(study.labels, scores)
        for statistic in ("auroc", "auprc"):
            values = getattr(expected, statistic)
            for place, label in enumerate((*LABELS, "macro")):
                value = values.mean() if label == "macro" else values[place]
                row = found[method, label, statistic]
                if np.isnan(value):
                    assert row["estimate"] is None
                    assert row["reason"]
                else:
                    assert row["estimate"] == pytest.approx(value)
                    assert row["reason"] is None
        accuracy = np.nanmean(role_credit(scores, study.labels))
        assert found[method, "macro", "accuracy"]["estimate"] == pytest.approx(accuracy)
        scored = ~np.isnan(np.reshape(scores, (75, -1))[:, 0])
        assert found[method, "macro", "auroc"]["unit_count"] == scored.sum()
    for row in found.values():
        if row["published"] is not None and row["estimate"] is not None:
            assert row["difference"] == pytest.approx(row["estimate"] - row["published"])


def test_within_abs(study):
    found = by(study.view("paper_covertype_within_abs"), "method", "statistic")
    bins = quantile_bins(study.magnitude, 12)
    for method, scores in study.methods.items():
        expected = within_bins(study.labels, scores, bins)
        for statistic in ("auroc", "auprc"):
            value = valid_bin_macro(getattr(expected, statistic))
            row = found[method, statistic]
            assert row["estimate"] == (None if np.isnan(value) else pytest.approx(value))
            assert (row["reason"] is None) == (row["estimate"] is not None)
    assert found["kernel_shap", "auroc"]["reason"] == "a label is defined in no bin"


def test_matched(study):
    pairs = match_units(study.magnitude, study.labels, [study.names], 0.05)
    found = study.matched(pairs)
    estimate = {key: row["estimate"] for key, row in found.items()}
    m = study.response["endpoint_magnitude"][pairs]
    differences = np.ptp(m, axis=1) / m.max(axis=1)
    assert estimate["all", "pairs"] == len(pairs) > 5
    assert estimate["all", "coverage"] == pytest.approx(2 * len(pairs) / 75)
    same = (study.family[pairs[:, 0]] == study.family[pairs[:, 1]]).sum()
    assert estimate["all", "same_family_pairs"] == same
    assert estimate["all", "median_m_difference"] == pytest.approx(np.median(differences))
    assert estimate["all", "largest_m_difference"] == pytest.approx(differences.max())
    a = study.magnitude[pairs]
    largest = (np.ptp(a, axis=1) / a.max(axis=1)).max()
    assert estimate["all", "largest_abs_difference"] == pytest.approx(largest)
    assert largest <= 0.05
    for method, scores in study.methods.items():
        credit = role_credit(scores, study.labels)[pairs].mean(axis=1)
        credit = credit[~np.isnan(credit)]
        expected = pytest.approx(credit.mean()) if credit.size else None
        assert estimate[method, "accuracy"] == expected


def test_the_published_shares_are_those_of_75_units(columns):
    """Accuracy 44/75, coverage 22/75 and matched accuracy 16/22, exactly."""
    study = Study(columns, 0)
    right = np.arange(75) < 44
    named = np.where(right, study.classes, (study.classes + 1) % 3)
    study.scores = (named[:, None] == np.arange(3)).astype(float)
    readout = by(study.view("paper_covertype_readout"), "method", "label", "statistic")
    row = readout["DECAF", "macro", "accuracy"]
    assert row["estimate"] == pytest.approx(44 / 75)
    assert row["difference"] == pytest.approx(0, abs=1e-12)
    assert f"{row['published']:.3f}" == "0.587"
    # Sixteen of the 22 matched units are named right.
    chosen = np.concatenate([np.flatnonzero(right)[:16], np.flatnonzero(~right)[:6]])
    matched = study.matched(chosen.reshape(11, 2))
    for key, published in (
        (("all", "pairs"), "11.000"),
        (("all", "coverage"), "0.293"),
        (("DECAF", "accuracy"), "0.727"),
    ):
        assert matched[key]["difference"] == pytest.approx(0, abs=1e-12)
        assert f"{matched[key]['published']:.3f}" == published


def test_every_table_has_the_papers_value_and_the_difference(columns):
    names = [name for name in VIEWS if name.startswith("paper_covertype_")]
    tables = [name for name in names if "estimate" in columns[name]]
    assert (len(names), len(tables)) == (11, 10)
    for name in tables:
        assert {"study", "estimate", "published", "difference", "reason"} <= columns[name].keys()
