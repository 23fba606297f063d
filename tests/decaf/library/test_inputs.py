import numpy as np
import pytest
import torch

from decaf import Blend, ContextChannel, Patches, Removal, audit
from decaf.errors import DataError, ModelError, ResponseError, UnknownName

ROW = np.array([[1.0, 2.0]])
IMAGE = np.zeros((1, 3, 8, 8))


def total(x):
    return x.reshape(len(x), -1).sum(1)


@pytest.mark.parametrize(
    ("plus", "minus", "message"),
    [
        (np.empty((0, 2)), np.empty((0, 2)), "empty"),
        ([], [], "one row for each input"),
        (np.ones(3), np.ones(3), r"x\[None\]"),
        (ROW + 1j, ROW, "x_plus has type complex128"),
        (ROW, ROW > 0, "x_minus has type bool"),
        (ROW.astype(np.float16), ROW, "float16; expected float32 or float64"),
        ([["a", "b"]], ROW, "x_plus has type str"),
        (IMAGE.astype(int), IMAGE, "type int64"),
        (ROW, np.ones((1, 3)), r"x_minus has shape \(1, 3\); expected \(1, 2\)"),
        (ROW, np.ones((2, 2)), r"x_minus has shape \(2, 2\)"),
        (ROW, ROW.astype(np.float32), "x_minus has type float32; expected float64"),
        ([IMAGE[0], IMAGE[0, :, :4]], IMAGE, "different shapes.*one size"),
        (IMAGE, IMAGE[..., :4], "x_minus has shape"),
        (np.zeros((1, 8, 8, 3), np.uint8), None, "channels last"),
        (ROW * np.nan, ROW, r"not finite, the first at \(0, 0\)"),
        (ROW, torch.from_numpy(ROW), "x_minus has library torch; expected numpy"),
        ([torch.ones(2)], ROW, "torch.stack"),
        (torch.ones(1, 2), torch.ones(1, 2).bool(), "x_minus has type bool"),
        (torch.ones(1, 2), torch.full((1, 2), torch.inf), "not finite"),
    ],
)
def test_inputs_that_cannot_be_paired_are_refused(plus, minus, message):
    with pytest.raises(DataError, match=message):
        audit(total, plus, minus)


def test_tensors_on_two_devices_are_refused():
    from decaf.library.inputs import pair_inputs

    inputs = {"x_plus": torch.ones(1, 2), "x_minus": torch.ones(1, 2, device="meta")}
    with pytest.raises(DataError, match="x_minus has device meta; expected cpu, as x_plus"):
        pair_inputs(inputs, ["0"])


@pytest.mark.parametrize(
    ("score", "target", "message"),
    [
        ("predict", None, "score is a str; expected a callable"),
        (torch.nn.Linear(2, 1), None, "score.eval"),
        (lambda x: x.sum(), None, r"shape \(\) for 2 inputs"),
        (lambda x: x[1:, 0], None, r"shape \(1,\) for 2 inputs; expected \(2,\)"),
        (lambda x: x[:, None], 0, r"expected \(2,\) or \(2, columns\)"),
        (lambda x: x, None, "2 columns; say which is q with 'target'"),
        (lambda x: x, 2, "target 2 is no column .* expected 0 to 1"),
        (lambda x: x[:, 0], 1, "target 1 is no column"),
        (lambda x: x[:, 0] > 0, None, "type bool"),
        (lambda x: x[:, 0] + 1j, None, "type complex"),
        (lambda x: None, None, "type object"),
    ],
)
def test_scores_that_are_none_are_refused(score, target, message):
    with pytest.raises(ModelError, match=message):
        audit(score, ROW, ROW + 1, target=target, stages=2, batch_size=2)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"stages": 1}, ResponseError, "at least two stages"),
        ({"stages": [0, 0.5]}, ResponseError, r"expected \[0, 1\]"),
        ({"stages": [0, 0.7, 0.5, 1]}, ResponseError, "does not strictly increase"),
        ({"batch_size": 0}, ResponseError, "batch_size is 0"),
        ({"target": -1}, ResponseError, "from 0"),
        ({"target": 0.5}, ResponseError, "whole"),
        ({"target": True}, ResponseError, "whole"),
        ({"target": [0, 0]}, DataError, r"target have shape \(2,\); expected \(1,\)"),
        ({"clusters": [0, 0]}, DataError, r"clusters have shape \(2,\); expected \(1,\)"),
        ({"ids": ["a", "b"]}, DataError, "ids are 2 names"),
        ({"path": "blent"}, UnknownName, "did you mean 'blend'"),
        ({"path": {"mine": "blent"}}, UnknownName, "did you mean 'blend'"),
        ({"path": {}}, ResponseError, "empty"),
        ({"path": Blend}, ResponseError, "expected a reveal path"),
        ({"path": Blend(sigma=1)}, ResponseError, "write 'sigma: 0'"),
        ({"path": Patches()}, ResponseError, "need images"),
        ({"path": Removal()}, DataError, "leave x_minus out"),
        ({"regions": [1, 2]}, DataError, "leave x_minus out"),
        ({"path": ContextChannel()}, DataError, "second context"),
        ({"context": [ROW]}, DataError, "two arrays"),
        ({"context": (ROW, ROW[:, :1])}, DataError, r"context\[1\] has shape"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        audit(total, ROW, ROW + 1, **options)


@pytest.mark.parametrize(
    ("x", "options", "message"),
    [
        (ROW, {"path": "blend"}, "give x_minus"),
        (ROW, {"context": (ROW, ROW)}, "no context"),
        (IMAGE, {"path": {"a": Removal(side=2), "b": Removal(side=4)}}, "same features"),
        (IMAGE, {"path": Removal()}, "nothing says what their features are"),
        (IMAGE, {"path": Removal(side=2), "regions": np.ones((8, 8), int)}, "no regions"),
        (ROW, {"path": Removal(side=2)}, "needs images"),
        (IMAGE[..., :3], {"path": Removal(side=4)}, "at least 4 px"),
        (ROW, {"regions": [1, 2, 3]}, r"shape \(3,\); expected whole numbers of shape \(2,\)"),
        (ROW, {"regions": [1.0, 2.0]}, "whole numbers"),
        (ROW, {"regions": [0, 0]}, "from 0 to 0"),
        (ROW, {"regions": [-1, 1]}, "from -1 to 1"),
        (np.ones((1, 65)), {}, "from 1 to 65"),
        (ROW, {"regions": np.ones((2, 3), bool)}, r"shape \(2, 3\); expected \(features, \*\(2,"),
        (ROW, {"regions": np.ones((65, 2), bool)}, "of 1 to 64 features"),
        (ROW, {"regions": np.ones((0, 2), bool)}, "of 1 to 64 features"),
        (ROW, {"regions": np.ones(2, bool)}, "shape \\(2,\\); expected"),
        (IMAGE, {"regions": np.ones((8, 8), bool)}, "where inputs differ"),
        (ROW, {"regions": np.zeros((2, 2), bool)}, "input '0' has no feature"),
        (np.ones((2, 2)), {"regions": [[1, 2], [0, 0]]}, "input '1' has no feature"),
    ],
)
def test_features_that_do_not_fit_are_refused(x, options, message):
    with pytest.raises(DataError, match=message):
        audit(total, x, **options)


def test_a_score_does_not_say_its_mean():
    with pytest.raises(ModelError, match="a constant baseline, with that mean as its 'value'"):
        audit(total, ROW, path=Removal(baseline="mean"))


def test_masks_that_overlap_remove_what_either_covers():
    # q is the sum of 1, 2 and 4: without columns 0 and 1, without 1 and 2, and without nothing.
    x, masks = np.array([[1.0, 2.0, 4.0]]), np.array([[1, 1, 0], [0, 1, 1], [0, 0, 0]], bool)
    for regions in (masks, masks[None], masks.tolist()):
        audited = audit(total, x, regions=regions, stages=2)
        assert audited.ids == ("0/1", "0/2")
        np.testing.assert_array_equal(audited.q_minus[:, 0, 1], [4, 1])
    # Numbers are masks that do not overlap.
    numbers = np.array([2, 0, 1])
    apart = np.stack([numbers == 1, numbers == 2])
    both = [audit(total, x, regions=one, stages=3) for one in (numbers, apart)]
    np.testing.assert_array_equal(both[0].q_minus, both[1].q_minus)


def test_attributions_need_features_and_a_metric_that_exists():
    with pytest.raises(ResponseError, match="no features were removed"):
        audit(total, ROW, ROW + 1).attributions()
    with pytest.raises(UnknownName, match="did you mean 'evidence'"):
        audit(total, ROW).attributions("evidenc")
