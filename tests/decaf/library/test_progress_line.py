import sys
from io import StringIO

import pytest

from decaf import audit
from decaf.library import progress


class Terminal(StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("stream", "end"), [(Terminal, "\r"), (StringIO, "\n")])
def test_forward_rows_are_counted(stream, end, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream())
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", {end: 0})
    audit(lambda x: x, [[1.0]], [[0.0]], stages=3, batch_size=2, progress=True)
    said = sys.stderr.getvalue()
    assert said.endswith("\n")
    states = [line.split(" forward")[0] for line in said.rstrip().split(end)]
    assert states[:3] == ["2 of 5", "4 of 5", "5 of 5"]
    assert "(40%)" in said


def test_a_score_that_fails_leaves_a_whole_line(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(ZeroDivisionError):
        audit(lambda x: 1 / 0, [[1.0]], [[0.0]], progress=True)
    assert sys.stderr.getvalue().split(" forward")[0] == "0 of 17"
    assert sys.stderr.getvalue().endswith("\n")


def test_without_it_nothing_is_said(capsys):
    audit(lambda x: x, [[1.0]], [[0.0]])
    assert capsys.readouterr() == ("", "")
