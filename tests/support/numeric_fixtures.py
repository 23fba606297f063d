"""Fixtures of tests of numbers."""

import pytest
import torch


@pytest.fixture
def one_thread():
    """Sums of several threads differ from run to run."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
