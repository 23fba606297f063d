"""Pair sets of tables: the digests, rows and numbers that decaf gave when it made pairs singly."""

import hashlib

import numpy as np
import pandas as pd
import pytest

from decaf.data.adapters.table_pairs import TablePairs

COUNT = 40
CASES = {
    "changes": {
        "drop": ["who", "weight", "y", "part", "house"],
        "changes": {
            "older": {"add": {"age": 1}},
            "cook": {"set": {"job": "cook"}},
            "fewer": {"multiply": {"hours": 0.5}},
        },
    },
    "every key": {
        "id": "who",
        "label": "y",
        "source": "house",
        "split": "part",
        "weight": "weight",
        "groups": ["town", "member"],
        "removed": ["job", "age"],
        "changes": {
            "jobless": {"set": {"job": None}},
            "swap ü": {
                "permute": {"column": "age", "within": "town", "seed": 3},
                "set": {"member": True},
            },
        },
    },
    "second table": {
        "id": "who",
        "label": "y",
        "drop": ["weight", "part", "house"],
        "counterfactuals": "second.csv",
        "pair_type": "kind",
        "several": True,
        "changes": {"pair": {"set": {"town": "A"}}},
    },
}
# Digests of pairs, inputs and a block, numbers of pairs and inputs, and a digest of all rows.
EXPECTED = {
    "changes": (
        "31b28e17637a768a866e48dd8f082ac0f4da7f126f9ff37182686e6bab2afcb4",
        "a7cef666f551bc21ccec82df3d464a2de4355d90b338b69147b1a17cf061d28a",
        "fa68162a3e4e80c47d3b89fe66769f92445cb34d8b69883f5e3ea74881db9fc7",
        (106, 146),
        "ca7ab7a7bcbcd3205bfa505a2776d83c502b06528d6b9209cc710e65421b715d",
    ),
    "every key": (
        "0114a4ff983184a904be57e3b9662ed618bd7aada4eec618662715bf2730da47",
        "4261c806707e221c6184b4b0edb66fa5bc9ad7a8a38a2ba15cac35e69656aac7",
        "ebb06f2fe51b8c806309839c301bdbbb374b93d06db3547549e211c11d4d24b7",
        (153, 113),
        "1ac3033b26be47f4303c2183afe36e569a663af116340e50c45538e4b44ca139",
    ),
    "second table": (
        "0a76472e05402bf7cce1e82965ab144a39c892d11f9084c9a680f5e2cb4970ce",
        "9985d603dc4da0861d266b9d6006dcd110b53c1260c4ccf9cb3d55e4ec4717ef",
        "da5bcd158a1fb7e3d2ff8baba3ed08f613dbaf36ac58ddcf973544d182c00c09",
        (63, 98),
        "d5203b0aa827c4f69e1476f97eba770ec3b839958266d7464e14369adca8f895",
    ),
}


def table_of(seed):
    draw = np.random.default_rng(seed)
    names = [f"r{n}é" if n % 7 == 0 else f"r{n}" for n in range(COUNT)]
    frame = pd.DataFrame(
        {
            "who": names,
            "age": draw.integers(18, 90, COUNT),
            "hours": draw.random(COUNT).round(3) * 60,
            "job": draw.choice(["cook", "smith", "Arzt ü", '"q"'], COUNT),
            "town": draw.choice(["A", "B"], COUNT),
            "member": draw.random(COUNT) < 0.5,
            "weight": draw.choice([1, 0.5, 2.25], COUNT),
            "y": draw.choice(["no", "yes"], COUNT),
            "part": draw.choice(["train", "test"], COUNT),
            "house": draw.integers(0, COUNT // 3, COUNT),
        }
    )
    frame.loc[frame.index % 5 == 0, "hours"] = np.nan
    frame.loc[frame.index % 6 == 1, "job"] = np.nan
    return frame


@pytest.fixture
def folder(tmp_path):
    table, second = table_of(0), table_of(1)
    second["who"] = table["who"][np.random.default_rng(5).integers(0, COUNT, COUNT)].to_numpy()
    second["kind"] = np.where(second.age > 50, "pair", "odd")
    table.to_csv(tmp_path / "table.csv", index=False)
    second.to_csv(tmp_path / "second.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("case", CASES)
def test_digests_and_rows_stay_as_they_were(folder, case):
    keys = dict(CASES[case])
    if "counterfactuals" in keys:
        keys["counterfactuals"] = str(folder / keys["counterfactuals"])
    given = {"adapter": "table_pairs", "table": str(folder / "table.csv"), **keys}
    data = TablePairs.model_validate(given)
    pairs = data.pair_set()
    rows = np.stack([data.read_input(image) for image in pairs.inputs])
    found = pairs.digest, pairs.input_set.digest, pairs.block_digest(pairs.blocks(4)[1])
    counts = len(pairs.pairs), len(pairs.inputs)
    assert (*found, counts, hashlib.sha256(rows.tobytes()).hexdigest()) == EXPECTED[case]


@pytest.mark.parametrize("case", ["changes", "every key"])
def test_rows_are_the_same_read_one_by_one_and_together(folder, case):
    given = {"adapter": "table_pairs", "table": str(folder / "table.csv"), **CASES[case]}
    data = TablePairs.model_validate(given)
    inputs = data.pair_set().inputs
    numbers = np.array([5, 0, 17, 5, len(inputs) - 1])
    together = data.read_inputs(inputs.take(numbers))
    assert together.dtype == np.float64
    one_by_one = [data.read_input(inputs[number]) for number in numbers]
    np.testing.assert_array_equal(together, one_by_one)
    digests = [hashlib.sha256(row.tobytes()).hexdigest() for row in together]
    assert digests == [inputs[number].digest for number in numbers]
