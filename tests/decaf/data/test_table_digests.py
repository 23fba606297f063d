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
    "no missing numbers": {
        "drop": ["who", "hours", "weight", "y", "part", "house"],
        "changes": {"older": {"add": {"age": 1}}, "jobless": {"set": {"job": None}}},
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
        "dc07aafb9e588bb082e9eb8ac9b669c2bb228e6724f77846176f5d8b8952f819",
        "7204d29638b819aa3343ee7bde47e5b98479541d6617f8bc189fc2d2bdd2df34",
        "5c7c966dbcce8c92fc74aa4fb2d5ec4267cce74e795389214c8c05878e3f50d3",
        (106, 146),
        "ca7ab7a7bcbcd3205bfa505a2776d83c502b06528d6b9209cc710e65421b715d",
    ),
    "no missing numbers": (
        "a2c8f2f16b512f7bcbc37318f778e84a653427305722564b171d8a5f7b8bd353",
        "f2542e711be09ffe3c4d4e7646311b8289e696b4f94560eaef00da6fc139fe22",
        "52ea013981b04e30520f276990020b12bc76b9920ae63d81fc919b740c5c5b43",
        (73, 113),
        "ad9c36b073d6af9946e069e575860c1efbceb43a3bb4a387099db9ee215ca2f0",
    ),
    "every key": (
        "3974ed519688dcb4c975f49bc8c133fa80b151f974006ddecf040c4824475d5f",
        "5c25c0d21ea000510f5e83dda24945c125a8aa730de1df857c2e96cb78e42026",
        "3948bd7b8e679e9f1b04248db268f39e13bd7fcd488789e6f163a5e989943412",
        (153, 113),
        "1ac3033b26be47f4303c2183afe36e569a663af116340e50c45538e4b44ca139",
    ),
    "second table": (
        "877ea1224ada8682cb265a693ea408a9bf3c5ac7eb6804c517ae9df7c60400e1",
        "b299b024aba406c8d055c83f8b0085e3977d801b9e759c54e2aa9c173ab34ef3",
        "93a67c6d6705caf264e16e7883da47ce7c63619584bbc325c437fddb8553548c",
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
