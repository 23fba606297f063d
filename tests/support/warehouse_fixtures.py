"""A small warehouse that no test changes, a copy of it, and an S3-compatible server."""

import shutil

import pytest
from s3_server import CREDENTIALS, running
from small_warehouse import small_warehouse


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A small warehouse that no test changes."""
    return small_warehouse(tmp_path_factory.mktemp("small") / "warehouse")


@pytest.fixture
def root(small, tmp_path):
    """A copy of the small warehouse."""
    return shutil.copytree(small, tmp_path / "warehouse")


@pytest.fixture(scope="session")
def s3():
    """A server with a bucket, and its credentials in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in CREDENTIALS.items():
            patch.setenv(name, value)
        with running() as server:
            server.make_bucket()
            yield server
