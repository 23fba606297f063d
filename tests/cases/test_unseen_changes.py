"""Changes of images that no network of the study can see, or hardly any."""

import csv

import numpy as np
import pytest
from in_process import compute
from own_data import save
from small_studies import of_scenes, untrained
from warehouse_answers import query_rows

from decaf.plan.study import Study
from tasks.model_remarks import commit_trial
from tasks.plan import plan_audit
from tasks.trial import scored_models, trials_of, try_with_remarks

pytestmark = pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
"""Arrays are only read."""
SEEN = {"expect": {"marked": {"should_not_matter": {"at_most": 0.9}}}}


def photos(folder, mark):
    """Six pairs of photos of 40 px, whose corner of 2 px has another level in the second."""
    noise = np.random.default_rng(0)
    rows = [("factual", "counterfactual", "label", "pair_type")]
    for number in range(6):
        plain = noise.integers(20, 200, (40, 40, 3), np.uint8)
        marked = plain.copy()
        marked[:2, :2] += np.uint8(mark)
        names = [f"{number}-{kind}.png" for kind in ("plain", "marked")]
        for name, pixels in zip(names, (plain, marked), strict=True):
            save(folder / name, pixels)
        rows.append((*names, number % 2, "marked"))
    with (folder / "pairs.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return {"adapter": "image_pairs", "pairs": str(folder / "pairs.csv")}


def tried(folder, mark, data, card):
    """A study of such photos with one network, and the remarks of the trial on the change."""
    settings = of_scenes(
        folder, [untrained(folder, "m", **card)], data=photos(folder, mark) | data, **SEEN
    )
    study = Study(**settings)
    plan = plan_audit(study, study.pair_set())
    (trial,) = trials_of(plan, scored_models(plan))
    remarks = [words for words in try_with_remarks(trial).remarks if "'marked' changes" in words]
    return study, plan, remarks


@pytest.mark.parametrize(
    ("mark", "data", "card", "expected"),
    [
        (50, {}, {}, []),
        (50, {"crop": 32}, {}, ["after crop"]),
        (50, {}, {"shorter_side": 40}, ["after crop"]),
        (1, {}, {}, ["1 of 255 levels"]),
        (2, {}, {}, []),
    ],
    ids=["seen", "cut off by the data", "cut off by the card", "one level", "two levels"],
)
def test_a_change_that_a_network_cannot_see_gets_a_remark(mark, data, card, expected, tmp_path):
    _, _, remarks = tried(tmp_path, mark, data, card)
    assert len(remarks) == len(expected)
    assert all(words in remark for words, remark in zip(expected, remarks, strict=True))


def test_a_limit_on_an_unseen_change_decides_nothing(tmp_path):
    study, plan, remarks = tried(tmp_path, 50, {"crop": 32}, {})
    compute(study)
    commit_trial(plan.store, study.study, plan.work.units, {"m": remarks})
    (row,) = query_rows(
        tmp_path / "warehouse",
        "SELECT decision, detail FROM out_findings JOIN core_limit_warnings USING (model_id) "
        "WHERE warning = 'model_remark'",
    )
    assert (row["decision"], row["detail"]) == ("undecided", *remarks)
