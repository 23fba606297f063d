"""Parts of a large object are got once, and become a copy when all are there."""

import hashlib
import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decaf.errors import WarehouseError
from warehouse.storage import partial
from warehouse.storage.base import Content
from warehouse.storage.copies import Copies
from warehouse.storage.partial import PartialCopy

CHUNK = 4
OBJECT = b"abcdefghijklmno"  # chunks abcd efgh ijkl mno
SHA256 = "41c7760c50efde99bf574ed8fffc7a6dd3405d546d3da929b214c8945acf8a97"
CONTENT = Content(len(OBJECT), SHA256)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(partial, "CHUNK_BYTES", CHUNK)


class Source:
    """Gives parts of an object, and notes which."""

    def __init__(self, content=OBJECT):
        self.content, self.asked = content, []

    def __call__(self, start, byte_count):
        self.asked.append((start, byte_count))
        return self.content[start : start + byte_count]


@pytest.fixture
def opened(tmp_path):
    """Opens the same object, however often."""
    return lambda source: PartialCopy(tmp_path / "object.parquet", CONTENT, source)


def test_whole_chunks_are_got_and_neighbours_by_one_request(opened):
    source = Source()
    copy = opened(source)
    assert copy.read(5, 2) == b"fg"
    assert source.asked == [(4, 4)]
    assert copy.read(4, 4) == b"efgh"
    assert source.asked == [(4, 4)]
    assert copy.read(2, 9) == b"cdefghijk"
    assert source.asked[1:] == [(0, 4), (8, 4)]
    # What another handle got is there, and what lies behind the end is not.
    other = opened(source)
    assert other.read(0, 12) == b"abcdefghijkl"
    assert other.read(15, 3) == other.read(99, 1) == other.read(3, 0) == b""
    assert len(source.asked) == 3


def test_the_last_chunk_makes_it_a_copy(opened, tmp_path):
    source = Source()
    copy, other = opened(source), opened(source)
    assert copy.read(0, 12) == OBJECT[:12]
    assert [path.name for path in tmp_path.iterdir()] == ["object.part"]
    assert copy.read(13, 99) == b"no"
    assert source.asked == [(0, 12), (12, 3)]
    assert [path.name for path in tmp_path.iterdir()] == ["object.parquet"]
    assert (tmp_path / "object.parquet").read_bytes() == OBJECT
    # Who has it open reads on.
    assert copy.read(0, 99) == other.read(0, 99) == OBJECT
    assert len(source.asked) == 2


def test_an_object_that_is_another_is_refused_and_not_kept(opened, tmp_path):
    changed = OBJECT.replace(b"f", b"F")
    with pytest.raises(WarehouseError, match=r"object.parquet is not what its receipt says: its s"):
        opened(Source(changed)).read(0, 15)
    assert not list(tmp_path.iterdir())
    with pytest.raises(WarehouseError, match="is not what its receipt says: it is shorter"):
        opened(Source(OBJECT[:6])).read(0, 15)
    assert opened(Source()).read(0, 15) == OBJECT


def test_a_full_disk_is_told_and_leaves_no_gap(opened, monkeypatch):
    source = Source()
    copy = opened(source)
    write = os.pwrite
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", lambda file, content, at: write(file, content[:-1], at))
        with pytest.raises(WarehouseError, match="No space left on device; free some space, or se"):
            copy.read(0, 4)
    assert copy.read(0, 4) == b"abcd"
    assert source.asked == [(0, 4), (0, 4)]


@settings(max_examples=60)
@given(
    content=st.binary(min_size=1, max_size=60),
    asked=st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=12),
)
def test_what_is_read_is_the_object_and_nothing_is_got_twice(tmp_path_factory, content, asked):
    source = Source(content)
    target = tmp_path_factory.mktemp("copies") / "x.parquet"
    copy = PartialCopy(target, Content(len(content), hashlib.sha256(content).hexdigest()), source)
    for start, byte_count in asked:
        assert copy.read(start, byte_count) == content[start : start + byte_count]
    got = [at for start, count in source.asked for at in range(start, start + count)]
    assert len(got) == len(set(got))
    assert target.exists() == (len(got) == len(content))


def test_threads_may_read_one_object(opened):
    source, ready = Source(OBJECT), threading.Barrier(8)
    copy, found = opened(source), []

    def read():
        ready.wait()
        found.append(copy.read(0, 15))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [OBJECT] * 8


def test_copies_that_nobody_uses_go_with_their_parts(tmp_path, monkeypatch):
    monkeypatch.setenv("DECAF_CACHE", str(tmp_path / "cache"))
    copies = Copies("s3://somewhere")
    part = copies.partial("tables/x.parquet", CONTENT, Source())
    part.read(0, 1)
    assert copies.kept("tables/x.parquet", CONTENT) is None
    os.utime(copies.folder / SHA256, (0, 0))
    copies.partial("tables/x.parquet", CONTENT, Source())
    assert copies.prune() == 0  # opening it was a use
    os.utime(copies.folder / SHA256, (0, 0))
    assert copies.prune() == 1
    assert not list(copies.folder.iterdir())
