"""Addresses and credentials of object stores: which are found, and which are refused."""

import sys
from uuid import uuid4

import pytest
from s3_server import CREDENTIALS, free_port, running
from small_warehouse import small_warehouse
from warehouse_answers import row_counts

from decaf.errors import MissingPackage, OutOfReach, WarehouseError
from warehouse.commits.writer import open_root
from warehouse.query.catalog import connect

pytestmark = pytest.mark.usefixtures("no_copies")


def test_an_absent_server_a_missing_bucket_and_wrong_credentials_are_told(s3):
    with pytest.raises(OutOfReach, match="check the address and whether its server runs"):
        open_root(s3.url("x", port=free_port()))
    for use in (open_root, connect):
        with pytest.raises(OutOfReach, match="NoSuchBucket.*make the bucket first"):
            use(s3.url("x", bucket="another-bucket"))
    with pytest.raises(WarehouseError, match="is not a warehouse: it has no warehouse.json"):
        connect(s3.url("nothing"))
    # This one checks signatures from the first request on.
    with running(INITIAL_NO_AUTH_ACTION_COUNT="0") as strict:
        for use in (open_root, connect):
            with pytest.raises(OutOfReach, match="InvalidAccessKeyId.*check AWS_ACCESS_KEY_ID"):
                use(strict.url("x"))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("s3://key:secret@bucket/x", "credentials"),
        ("s3://key@bucket/x", "credentials"),
        ("s3://bucket/x?secret_key=hidden", "unknown parameter 'secret_key'"),
        ("s3://bucket/x?regoin=eu", "did you mean 'region'"),
        ("s3://", "^s3:// .*bucket"),
        ("s4://bucket/x", "unknown protocol 's4' of s4://bucket/x; known: abfs"),
        ("s3://bucket/x?scheme=http", "'scheme' without 'endpoint_override'"),
        ("gs://bucket/x?token=hidden", "unknown parameter 'token'"),
    ],
)
def test_an_url_that_cannot_be_used(url, message):
    with pytest.raises(WarehouseError, match=message) as raised:
        open_root(url)
    assert "hidden" not in str(raised.value)
    assert "key:secret" not in str(raised.value)


def test_a_store_without_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(MissingPackage, match=r"\[s3\]"):
        open_root("s3://bucket/nothing-opened-this")


@pytest.fixture
def no_keys(monkeypatch, tmp_path):
    """No credentials in the environment, and a home without AWS's files."""
    for name in CREDENTIALS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")  # which boto3 would wait for


def test_a_profile_in_the_shared_files_has_the_credentials(s3, no_keys, monkeypatch, tmp_path):
    (tmp_path / ".aws").mkdir()
    profile = "[audits]\naws_access_key_id = key\naws_secret_access_key = secret\n"
    (tmp_path / ".aws" / "credentials").write_text(profile)
    with pytest.raises(OutOfReach, match="AWS_PROFILE"):  # there is no default profile
        open_root(s3.url("default-profile"))
    monkeypatch.setenv("AWS_PROFILE", "absent")
    with pytest.raises(OutOfReach, match="AWS_PROFILE"):
        open_root(s3.url("absent-profile"))
    monkeypatch.setenv("AWS_PROFILE", "audits")
    root = small_warehouse(s3.url(f"profile-{uuid4().hex}"))
    assert row_counts(root, "trajectories", "predictions", "profiles") == (6, 12, 6)
    monkeypatch.setitem(sys.modules, "boto3", None)
    monkeypatch.delitem(sys.modules, "obstore.auth.boto3", raising=False)
    with pytest.raises(MissingPackage, match="boto3"):
        open_root(s3.url("no-boto3"))
