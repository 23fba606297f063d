"""Promises of the library's pages: clusters are sources, and examples keep the contracts."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from decaf import GaussianReveal, RevealPath, audit
from decaf.contracts.checking import check
from decaf.contracts.targets import candidates
from decaf.foundation.plugins import find
from decaf.reveal.gaussian.reference import fit_reference

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(5)
X_PLUS, X_MINUS = RNG.normal(size=(2, 4, 3))
MATCHED = GaussianReveal(reference=fit_reference([X_PLUS, X_MINUS]), seeds=(1, 2))


def score(x):
    return np.tanh(x @ [1.0, -2.0, 0.5]) + x[:, 0] * x[:, 1]


def test_inputs_of_one_cluster_share_the_start_of_a_path_that_draws():
    by_row = audit(score, X_PLUS, X_MINUS, path=MATCHED)
    starts = by_row.q_plus[:, :, 0]
    assert len(np.unique(starts)) == 8
    clustered = audit(score, X_PLUS, X_MINUS, path=MATCHED, clusters=[3, 3, 0, 1])
    # A start is drawn by the name of its source, and rows are named by their numbers.
    np.testing.assert_array_equal(clustered.q_plus[:, :, 0], starts[[3, 3, 0, 1]])
    np.testing.assert_array_equal(clustered.q_minus[:, :, 0], starts[[3, 3, 0, 1]])
    np.testing.assert_array_equal(clustered.q_plus[..., -1], by_row.q_plus[..., -1])
    assert clustered.row.tolist() == [0, 1, 2, 3]
    assert clustered.forward_rows == by_row.forward_rows - 2  # one start less for each seed


def test_rows_of_a_frame_keep_their_labels_whatever_their_cluster():
    frame = pd.DataFrame(X_PLUS, columns=list("abc"), index=[10, 20, 30, 40])
    other = pd.DataFrame(X_MINUS, columns=list("abc"), index=[10, 20, 30, 40])
    labels = []

    def noted(rows):
        labels.extend(zip(rows.index, rows["a"], strict=True))
        return rows["a"].to_numpy()

    audit(noted, frame, other, clusters=[7, 7, 8, 8], stages=[0, 1])
    clean = {*zip(frame.index, frame["a"], strict=True), *zip(other.index, other["a"], strict=True)}
    assert clean <= set(labels)


def test_without_clusters_every_row_is_a_source_by_its_number():
    by_number = audit(score, X_PLUS, X_MINUS, path=MATCHED, clusters=range(4))
    by_row = audit(score, X_PLUS, X_MINUS, path=MATCHED)
    np.testing.assert_array_equal(by_number.response, by_row.response)


FILES = re.compile(r"This file, `(\w+\.py)`.*?```python\n(.*?)```", re.DOTALL)
PATHS = dict(FILES.findall((ROOT / "docs" / "library.md").read_text()))


@pytest.mark.parametrize("name", PATHS)
def test_a_path_of_the_page_keeps_every_contract(name, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / name).write_text(PATHS[name])
    (path,) = candidates(str(tmp_path / name))
    outcomes = check(find(RevealPath, path.entry.value))
    assert len(outcomes) > 10
    assert [outcome for outcome in outcomes if outcome.problem] == []


@pytest.mark.parametrize("as_input", [np.asarray, torch.from_numpy])
def test_paths_of_the_page_show_what_they_say(as_input):
    names = {"__name__": "page"}
    for code in PATHS.values():
        exec(compile(code, "page", "exec"), names)
    # Of the columns 0, 1, 2 the midpoint is 0; at stage 1/3 the first one is its own.
    x = as_input(np.array([[1.0, 2.0, 4.0]]))
    for from_right, expected in ((False, [0, 2, 6, 14]), (True, [0, 8, 12, 14])):
        path = names["LeftToRight"](from_right=from_right)
        found = audit(lambda rows: rows.sum(1), x, -x, path=path, stages=4)
        assert found.response[0, 0].tolist() == expected
    # Of 3 x 3 pixels the centre comes first, then the four at its sides, then the corners.
    ones = as_input(np.ones((1, 1, 3, 3)))
    opening = names["Opening"](sigma=0)
    stages = [0, 0.5, 0.8, 1]
    found = audit(lambda images: images.sum((1, 2, 3)), ones, -ones, path=opening, stages=stages)
    assert found.response[0, 0].tolist() == [0, 2, 10, 18]
