import pytest

from decaf.errors import BadInput, DataError, DiskRefuses, ModelError, ScoringFailed
from tasks.cluster.drive import common_error
from tasks.cluster.failures import raise_failures


@pytest.mark.parametrize(
    ("errors", "kind"),
    [
        ([ModelError("a"), ModelError("b")], ModelError),
        ([ModelError("a"), DataError("b")], BadInput),
        ([ModelError("a"), RuntimeError("b")], ScoringFailed),
        ([RuntimeError("a"), RuntimeError("b")], ScoringFailed),
        ([ModelError("a"), DiskRefuses("b")], DiskRefuses),
    ],
)
def test_the_kind_that_stands_for_several(errors, kind):
    assert type(common_error(errors, "all")) is kind


def test_nothing_is_raised_where_nothing_failed():
    raise_failures([])


def test_one_failure_is_raised_as_it_is():
    error = ModelError("no weights")
    with pytest.raises(ModelError) as raised:
        raise_failures([error])
    assert raised.value is error


def test_several_failures_are_told_together_and_each_once():
    damaged = DataError("a photo is damaged")
    with pytest.raises(BadInput) as raised:
        raise_failures([ModelError("no weights"), damaged, damaged])
    assert str(raised.value) == "no weights\na photo is damaged"


def test_what_is_not_foreseen_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError):
        raise_failures([ModelError("no weights"), ZeroDivisionError()])
