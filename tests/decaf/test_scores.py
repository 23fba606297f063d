import json

import numpy as np
import pytest
import torch

from decaf.errors import DataError, ModelError
from decaf.scores.class_probability import ClassProbability
from decaf.scores.superclass_probability import SuperclassProbability


def superclass(tmp_path, mapping, classes=2):
    (tmp_path / "map.json").write_text(json.dumps(mapping))
    return SuperclassProbability(
        kind="superclass_probability", class_map=tmp_path / "map.json", classes=classes
    )


def test_class_probability_is_the_softmax():
    score = ClassProbability(kind="class_probability", classes=2)
    values = score.values(torch.tensor([[0.0, np.log(3.0)]]))
    np.testing.assert_allclose(values, [[0.25, 0.75]], rtol=1e-6)
    assert values.dtype == torch.float64


def test_superclass_probability_sums_and_drops_the_unmapped_mass(tmp_path):
    score = superclass(tmp_path, {"0": 0, "1": 1, "2": -1, "3": 1})
    values = score.values(torch.log(torch.tensor([[0.1, 0.2, 0.3, 0.4]])))
    np.testing.assert_allclose(values, [[0.1, 0.6]], rtol=1e-6)


def test_the_identity_is_the_mapping_not_its_file(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = superclass(tmp_path / "a", {"0": 0, "1": 1})
    assert one.identity() == superclass(tmp_path / "b", {"1": 1, "0": 0}).identity()
    assert one.identity() != superclass(tmp_path / "b", {"0": 1, "1": 0}).identity()


@pytest.mark.parametrize(
    "mapping", [{"0": 0}, {"0": 0, "2": 1}, {"0": 0, "1": 2}, ["dog"], {"0": "dog"}]
)
def test_a_mapping_with_gaps_or_strange_classes_is_refused(tmp_path, mapping):
    with pytest.raises(DataError, match="class map"):
        _ = superclass(tmp_path, mapping).mapping


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_model_with_another_number_of_outputs_is_refused(tmp_path, outputs):
    logits = torch.zeros(4, outputs)
    with pytest.raises(ModelError, match="returned shape"):
        ClassProbability(kind="class_probability", classes=2).values(logits)
    with pytest.raises(ModelError, match="returned shape"):
        superclass(tmp_path, {"0": 0, "1": 1}).values(logits)
