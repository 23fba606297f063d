from typing import NamedTuple

import pytest

from decaf.errors import BadInput, DataError, ModelError
from decaf.foundation.readiness import run_checks

DONE = []


class Folder(NamedTuple):
    """Looks for a folder, which is there if its name says so; equal ones are one check."""

    name: str

    def __call__(self):
        DONE.append(self.name)
        if self.name == "gone":
            raise DataError("folder gone is missing")
        return (f"{self.name} has a file too many",)


def file_is_gone():
    raise ModelError("put the file there")


@pytest.fixture(autouse=True)
def _nothing_done():
    DONE.clear()


def test_equal_checks_are_carried_out_once_and_remarks_told_once():
    asked = [("a", Folder("x")), ("b", Folder("x")), ("b", Folder("y")), ("b", tuple)]
    assert run_checks(asked) == [*Folder("x")(), *Folder("y")()]
    assert DONE[:2] == ["x", "y"]


def test_one_problem_is_told_with_those_that_have_it():
    with pytest.raises(BadInput) as told:
        run_checks([(name, Folder("gone")) for name in "abcde"])
    assert str(told.value).startswith("a, b, c and 2 more: ")


def test_all_problems_are_told():
    with pytest.raises(BadInput) as told:
        run_checks([("a", Folder("gone")), ("b", Folder("x")), ("c", file_is_gone)])
    head, *problems = str(told.value).splitlines()
    assert head.startswith("2 ")
    assert [line[:3] for line in problems] == ["a: ", "c: "]
