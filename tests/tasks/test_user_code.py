"""A stranger's class on a real worker that was started before anybody knew of it."""

import sys
from importlib.util import find_spec

import pytest
from distributed import Client, LocalCluster

from decaf.errors import BadInput
from decaf.foundation.plugins import find
from decaf.scoring.scores.base import ScoreDefinition
from tasks.cluster.user_code import UserCode, give, user_code

SCORE = '''
from typing import Literal
from decaf.scoring.scores.base import ScoreDefinition

class Ours(ScoreDefinition):
    """A score."""
    kind: Literal["ours"]

    def values(self, outputs, output):
        return outputs

    def columns(self, class_id):
        return class_id
'''


def sign_of(score):
    return score.sign, sys.modules[type(score).__module__].__file__


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def test_an_order_with_a_strangers_object_reaches_a_worker(client, tmp_path, monkeypatch):
    (tmp_path / "worker_score.py").write_text(SCORE)
    monkeypatch.syspath_prepend(tmp_path)
    score = find(ScoreDefinition, "worker_score:Ours")(kind="ours", direction="decreasing")
    # A worker that cannot unpickle an order never answers.
    assert set(client.run(find_spec, "worker_score").values()) == {None}

    class Study:
        plugin_sections, python_path = (score,), (tmp_path,)

    code = user_code(Study)
    give(client, code)
    give(client, code)
    sign, file = client.submit(sign_of, score, pure=False).result()
    assert (sign, file) == (-1, str(tmp_path / "worker_score.py"))

    planned = UserCode(code.folders, {"worker_score:Ours": "worker_score:Ours 5"})
    with pytest.raises(BadInput, match=r"tcp://.* worker_score:Ours"):
        give(client, planned)
    with pytest.raises(BadInput, match="No module named 'nowhere'"):
        give(client, UserCode((), {"nowhere:Ours": "1"}))


def test_a_worker_takes_a_module_that_changed_once_more(client, tmp_path, monkeypatch):
    file = tmp_path / "changing_score.py"
    file.write_text(SCORE)
    monkeypatch.syspath_prepend(tmp_path)
    for text in (SCORE, SCORE + "# another text\n"):
        file.write_text(text)
        score = find(ScoreDefinition, "changing_score:Ours")(kind="ours")

        class Study:
            plugin_sections, python_path = (score,), (tmp_path,)  # noqa: B023 - used in this turn alone

        give(client, user_code(Study))
        assert client.submit(sign_of, score, pure=False).result()[0] == 1


def test_a_study_of_decaf_alone_asks_nothing_of_the_workers():
    give(None, None)
    give(None, UserCode((), {}))
