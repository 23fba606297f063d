"""A worker waits for an object store that is away, and for nothing else."""

import tempfile

import pytest

from decaf.errors import OutOfReach, StoreAway, WriteFailed
from decaf.foundation.digests import json_sha256, short
from tasks.cluster import patience
from tasks.cluster.patience import retry_while_away
from tasks.cluster.worker_deaths import LOGGER, note_work


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(patience, "PAUSE_SECONDS", 0)


def failed_commit():
    try:
        raise StoreAway("no answer")
    except StoreAway as error:
        raise WriteFailed("a commit failed") from error


def answering(failures, fail):
    """Asks that fail so many times before there is an answer, and how often it was asked."""
    asked = []

    def ask():
        asked.append(1)
        if len(asked) <= failures:
            fail()
        return "answer"

    return ask, asked


def test_a_store_that_is_away_is_asked_again():
    ask, asked = answering(2, failed_commit)
    assert retry_while_away(ask) == "answer"
    assert len(asked) == 3


def test_who_refuses_is_asked_once():
    def refuse():
        raise OutOfReach("access denied")

    ask, asked = answering(1, refuse)
    with pytest.raises(OutOfReach, match="denied"):
        retry_while_away(ask)
    assert len(asked) == 1


def test_patience_ends(monkeypatch):
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", -1)
    ask, asked = answering(9, failed_commit)
    with pytest.raises(WriteFailed):
        retry_while_away(ask)
    assert len(asked) == 1


def test_work_is_done_where_the_disk_has_no_room_to_note_it(monkeypatch, caplog, tmp_path):
    notes = tmp_path / f"decaf-{short(json_sha256('work'))}.notes"
    notes.symlink_to("/dev/full")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # A cluster that ran in this process before has silenced Dask's loggers and those above.
    caplog.set_level("WARNING", LOGGER.name)
    monkeypatch.setattr(LOGGER, "handlers", [caplog.handler])
    with note_work("work"):
        done = True
    assert done
    assert "No space left" in caplog.text
