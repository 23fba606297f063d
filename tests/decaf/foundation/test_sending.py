"""What goes to a GPU and comes back, and who waits for it: by a stand-in, and for real."""

import numpy as np
import pytest
import torch
from gpu_stand_in import OnGpu, OnHost, stand_in

from decaf.foundation.arrays import page_locked, places_like, send_to_device, start_fetch

CPU, GPU = torch.device("cpu"), torch.device("cuda")


def test_what_goes_to_a_gpu_is_page_locked_and_not_waited_for(monkeypatch):
    noted = stand_in(monkeypatch)
    there = send_to_device(torch.zeros(3).as_subclass(OnHost), GPU)
    assert noted == ["pinned", ("to", "cuda", {"non_blocking": True})]
    # What is there already is no host memory that could be locked.
    noted.clear()
    send_to_device(there, GPU)
    assert noted == [("to", (GPU,), {})]


def test_on_a_processor_nothing_is_copied():
    given, places = torch.zeros(3), np.arange(2)
    assert send_to_device(given, CPU) is given
    assert places_like(given, places) is places
    assert np.shares_memory(start_fetch(given)(), given.numpy())


def test_values_of_a_gpu_are_copied_at_once_and_waited_for_when_they_are_asked(monkeypatch):
    noted = stand_in(monkeypatch)
    values = start_fetch(torch.arange(3.0).as_subclass(OnGpu))
    assert noted == [("to", ("cpu",), {"non_blocking": True}), "copy 1"]
    assert values().tolist() == [0, 1, 2]
    assert noted[2:] == ["wait 1"]


@pytest.mark.cuda
def test_a_gpu_has_what_was_sent_and_gives_it_back():
    room = page_locked((2, 3), np.dtype(np.uint8))
    assert torch.from_numpy(room).is_pinned()
    room[...] = np.arange(6).reshape(2, 3)
    there = send_to_device(torch.from_numpy(room).permute(1, 0), GPU)
    assert start_fetch(there)().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert there[places_like(there, np.array([2, 0]))].tolist() == [[2, 5], [0, 3]]
