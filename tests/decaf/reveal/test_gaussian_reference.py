import pickle

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from decaf.errors import DataError, WriteFailed
from decaf.reveal.gaussian.reference import fit_reference, reference_of
from decaf.reveal.gaussian.storage import load_reference, save_reference

# Eigenpairs 6, (2, 1) / sqrt 5 and 1, (-1, 2) / sqrt 5.
SIGMA = np.array([[5.0, 2.0], [2.0, 2.0]])


@pytest.fixture
def reference():
    return reference_of([10, 20], SIGMA)


def test_eigenpairs_by_hand(reference):
    np.testing.assert_allclose(reference.eigenvalues, [6, 1], rtol=1e-14)
    np.testing.assert_allclose(
        reference.eigenvectors, np.array([[2, -1], [1, 2]]) / 5**0.5, rtol=1e-14
    )
    np.testing.assert_array_equal(reference.variances, [5, 2])
    np.testing.assert_array_equal(reference.mean, [10, 20])
    np.testing.assert_allclose(reference.covariance, SIGMA, rtol=1e-14)
    assert reference.mean_variance == 3.5
    assert (reference.size, reference.rank, reference.shape) == (2, 2, (2,))


def test_directions_without_variance_are_left_out():
    # Rank one: the second entry is twice the first, the third never changes.
    direction = np.array([1.0, 2.0, 0.0])
    reference = reference_of(np.zeros(3), np.outer(direction, direction))
    assert reference.rank == 1
    np.testing.assert_allclose(reference.eigenvalues, [5, 0, 0], atol=1e-14)
    assert reference.axes.shape == (1, 3)


def test_tiny_negative_eigenvalues_are_rounding():
    reference = reference_of(np.zeros(2), np.diag([1.0, -1e-11]))
    np.testing.assert_array_equal(reference.eigenvalues, [1, 0])
    np.testing.assert_array_equal(reference.variances, [1, 0])


@pytest.mark.parametrize(
    ("mean", "covariance", "reason"),
    [
        ([0, 0], [[1, 2], [2, 1]], r"eigenvalue -1 \(the largest is 3\)"),
        ([0, 0], [[1, 1e-9], [0, 1]], "symmetric: .* 1e-09"),
        ([0, 0], [[1, np.nan], [np.nan, 1]], "covariance has 2 non-finite entries"),
        ([0, np.inf], np.eye(2), "mean has 1 non-finite entries"),
        ([0, 0, 0], np.eye(2), r"shape \(2, 2\); expected \(3, 3\)"),
        ([], np.empty((0, 0)), "expected"),
        ([0, 0], np.zeros((2, 2)), "covariance is zero"),
        ([0, 0], -np.eye(2), "covariance is zero|eigenvalue -1"),
    ],
)
def test_what_is_no_covariance_is_refused(mean, covariance, reason):
    with pytest.raises(DataError, match=reason):
        reference_of(mean, covariance)


def test_asymmetry_counts_relative_to_the_largest_entry():
    large = np.array([[1e9, 1e-4], [0, 1e9]])
    assert reference_of([0, 0], large).rank == 2


def test_a_shape_that_does_not_fit_is_refused():
    with pytest.raises(DataError, match=r"\(2,\); .* \(4,\)"):
        reference_of([0, 0], np.eye(2), (1, 2, 2))


@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_fitting_in_chunks_is_the_sample_covariance(chunk):
    # Far from zero, where sums of squares would cancel.
    inputs = 1e6 + np.random.default_rng(0).normal(size=(100, 1, 2, 3))
    flat = inputs.reshape(100, 6)
    batches = (inputs[first : first + chunk] for first in range(0, 100, chunk))
    reference = fit_reference(batches)
    np.testing.assert_allclose(reference.mean, flat.mean(axis=0), rtol=1e-15)
    np.testing.assert_allclose(reference.covariance, np.cov(flat.T), atol=1e-9)
    assert reference.shape == (1, 2, 3)


def test_fitting_splits_long_batches(monkeypatch):
    inputs = np.random.default_rng(1).normal(size=(50, 3))
    whole = fit_reference([inputs])
    monkeypatch.setattr("decaf.reveal.gaussian.reference.ROWS_AT_ONCE", 8)
    np.testing.assert_allclose(fit_reference([inputs]).covariance, whole.covariance)


def test_fitting_takes_eight_bit_values_and_tensors():
    import torch

    levels = np.array([[0, 255], [255, 0], [0, 0]], np.uint8)
    reference = fit_reference([levels[:1], torch.from_numpy(levels[1:])])
    np.testing.assert_allclose(reference.covariance, np.cov(levels.T.astype(float)))


def test_fewer_samples_than_dimensions_have_their_rank():
    inputs = np.random.default_rng(2).normal(size=(5, 40))
    assert fit_reference([inputs]).rank == 4


@pytest.mark.parametrize(
    ("batches", "reason"),
    [
        ([np.eye(2), np.eye(3)], r"batch 1 .* \(3,\); .* \(2,\)"),
        ([np.empty((1, 3, 224, 224))], "covariance would take 181 GB"),
        ([np.zeros((1, 2)), np.array([[0, 0], [0, np.inf]])], "input 1 of batch 1"),
        ([np.zeros((1, 2))], "two inputs; .* 1"),
        ([], "two inputs; .* 0"),
        ([np.ones((9, 2))], "covariance is zero"),
    ],
)
def test_inputs_that_cannot_be_fitted(batches, reason):
    with pytest.raises(DataError, match=reason):
        fit_reference(batches)


def test_a_saved_reference_comes_back(reference, tmp_path):
    path = tmp_path / "new" / "moments.safetensors"
    save_reference(reference, path)
    loaded = load_reference(path)
    assert loaded is load_reference(path)
    assert loaded == reference
    for name in ("mean", "eigenvalues", "eigenvectors", "variances"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(reference, name))
    assert loaded.shape == reference.shape


def test_equal_numbers_are_equal_references(reference):
    again = reference_of([10, 20], SIGMA)
    assert again == reference
    assert hash(again) == hash(reference)
    assert reference_of([10, 21], SIGMA) != reference
    assert reference_of(np.zeros((1, 2)), SIGMA) != reference_of(np.zeros((2, 1)), SIGMA)
    assert reference != "moments"


def test_the_digest_does_not_change_between_versions():
    reference = reference_of([0, 0], np.diag([4.0, 1.0]))
    assert reference.digest == "5bac833aad6d1f33cef141d65de90764d8419e25644099a4ceb52add63ac6e94"


def test_pickles_carry_the_numbers_alone(reference):
    reference.axes_like(np.empty(0, np.float32))
    copy = pickle.loads(pickle.dumps(reference))
    assert copy == reference
    assert not copy._axes


def test_files_that_are_no_reference(reference, tmp_path):
    path = tmp_path / "moments.safetensors"
    with pytest.raises(DataError, match=r"moments\.safetensors .* No such file"):
        load_reference(path)
    path.write_bytes(b"not safetensors")
    with pytest.raises(DataError, match=r"moments\.safetensors"):
        load_reference(path)
    save_file({"mean": np.zeros(2)}, path)
    with pytest.raises(DataError, match=r"moments\.safetensors"):
        load_reference(path)


def test_a_changed_number_is_damage(reference, tmp_path):
    path = tmp_path / "moments.safetensors"
    save_reference(reference, path)
    arrays = load_file(path)
    arrays["mean"][0] += 1
    save_file(arrays, path, {"shape": "[2]", "digest": reference.digest})
    with pytest.raises(DataError, match="is damaged"):
        load_reference(path)


def test_a_reference_that_cannot_be_written(reference, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteFailed, match="cannot be written"):
        save_reference(reference, tmp_path / "file" / "moments.safetensors")
