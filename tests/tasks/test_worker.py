import pytest
import torch

from decaf.errors import BadInput
from tasks.cluster.worker import choose_device


@pytest.mark.parametrize(
    ("wanted", "has_gpu", "chosen"),
    [
        ("auto", True, "cuda"),
        ("auto", False, "cpu"),
        ("cuda", True, "cuda"),
        ("cpu", True, "cpu"),
        ("cpu", False, "cpu"),
    ],
)
def test_the_device_is_the_gpu_where_there_is_one(monkeypatch, wanted, has_gpu, chosen):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_gpu)
    assert choose_device(wanted) == chosen


def test_a_gpu_that_is_not_there_is_bad_input(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BadInput, match="'device: auto'"):
        choose_device("cuda")
