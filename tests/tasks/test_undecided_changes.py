"""Limits on a change that cannot be applied, or not to the version they are meant for."""

import shutil

import pytest
from in_process import reaudited
from registry_folder import CARD, alias, put
from rich.console import Console
from warehouse_answers import fetched

from decaf.errors import DecafError
from flows.commands.reaudits import reaudit
from tasks.reaudit.standing import accept

LEANS = {"1": 0.5, "2": 1.5, "3": 1.49}
"""The evidence on the wall grows with it; 3 is no worse than 2, and both are worse than 1."""
GATES = {"evidence": {"increase": 0.02, "pair_type": "wall_hue"}}
pytestmark = pytest.mark.slow
DATA = {"adapter": "shapes3d", "sources": 8, "seed": 1}
GROWN = {"data": DATA | {"sources": 10}}
VERDICTS = "SELECT entry, verdict FROM out_entries ORDER BY entry"


@pytest.fixture
def audit(opened, config, tmp_path):
    """Audit and judge the registry in this process; gives the exit codes of the entries."""

    def of(*only, **changed):
        settings = {"gates": GATES, "data": DATA, "sources_per_block": 8, **changed}
        settings |= {"paths": {"blend": {"kind": "blend", "sigma": 1.15}}}
        study, store = opened(**settings)
        reaudited(study, store)
        try:
            reaudit(Console(), config(**settings), is_plan=False, is_json=False, only=only)
        except DecafError as error:
            return error.exit_code
        return 0

    return of


@pytest.fixture
def zoo(tmp_path):
    return tmp_path / "zoo" / "net"


@pytest.fixture
def warehouse(tmp_path):
    return tmp_path / "warehouse"


@pytest.fixture
def store(opened):
    return opened()[1]


def put_version(zoo, version):
    put(zoo / version, seed=0, lean=LEANS[version])


def test_a_version_is_compared_on_the_pairs_that_arrive_with_it(audit, zoo, warehouse, store):
    put_version(zoo, "1")
    assert audit() == 4  # none applies
    accept(store, "try", "net", "the first", "ada")
    assert audit() == 0
    put_version(zoo, "2")
    assert audit(**GROWN) == 1
    assert fetched(warehouse, VERDICTS) == [("net", "fail")]
    rows = "SELECT min(change) > 0.02, any_value(version_before) FROM out_drift "
    rows += "WHERE metric = 'evidence' AND pair_type = 'wall_hue'"
    assert fetched(warehouse, rows) == [(True, "1")]
    # More pairs are no answer, and neither is a version like it.
    assert audit(data=DATA | {"sources": 11}) == 1
    put_version(zoo, "3")
    assert audit(data=DATA | {"sources": 12}) == 1


def test_an_earlier_version_with_a_card_of_the_study_is_compared_on_new_pairs(
    audit, settings, zoo, store
):
    """The study's own card may name code that cards of the registry may not."""
    registry = settings["registry"] | {"trusted": [], "cards": {"net": CARD}}
    put_version(zoo, "1")
    assert audit(registry=registry) == 4  # none applies
    accept(store, "try", "net", "the first", "ada")
    put_version(zoo, "2")
    assert audit(registry=registry, **GROWN) == 1


def test_a_version_that_cannot_be_compared_is_undecided_until_it_is_accepted(
    audit, zoo, warehouse, store
):
    put_version(zoo, "1")
    gates = {"evidence": [GATES["evidence"], {"at_most": 0.99}]}
    assert audit(gates=gates) == 0
    put_version(zoo, "2")
    shutil.rmtree(zoo / "1")
    assert audit(gates=gates, **GROWN) == 4
    assert audit(gates=gates, **GROWN) == 4
    query = "SELECT rule, verdict, reason FROM out_verdicts WHERE rule = 'increase'"
    assert fetched(warehouse, query) == [("increase", "undecided", "the pairs differ")]
    # It is not the version that others are compared with.
    put_version(zoo, "3")
    assert audit(gates=gates, **GROWN) == 4
    accept(store, "try", "net", "a darker room", "ada")
    assert audit(gates=gates, **GROWN) == 0
    put(zoo / "4", seed=0, lean=1.4)
    assert audit(gates=gates, **GROWN) == 0


def test_pairs_that_grow_without_a_version_leave_verdicts_as_they_are(audit, zoo, store):
    put_version(zoo, "1")
    assert audit() == 4
    assert audit(**GROWN) == 4
    accept(store, "try", "net", "the first", "ada")
    put(zoo / "2", seed=0, lean=0.51)
    assert audit(**GROWN) == 0
    assert audit(data=DATA | {"sources": 11}) == 0
    put_version(zoo, "3")
    assert audit(data=DATA | {"sources": 11}) == 1


def of_champion(tmp_path, **changed):
    registry = {"kind": "folder", "root": str(tmp_path / "zoo"), "trusted": ["leaning"]}
    registry["follow"] = ["latest", "champion"]
    return {"registry": registry, "compare_with": "champion"} | changed


def test_a_failed_version_does_not_pass_as_the_champion(audit, zoo, warehouse, tmp_path):
    settings = of_champion(tmp_path)
    put_version(zoo, "1")
    alias(zoo, champion=1)
    # The first version is the champion itself, and no gate applies.
    assert audit(**settings) == 4
    nothing = "no gate applies"
    assert fetched(warehouse, VERDICTS) == [("net", nothing), ("net@champion", nothing)]
    put_version(zoo, "2")
    assert audit(**settings) == 1
    alias(zoo, champion=2)
    assert audit("net", **settings) == 1
    assert fetched(warehouse, VERDICTS) == [("net", "fail"), ("net@champion", "fail")]
    # A later version is not passed by comparison with a champion that failed, nor is the model.
    put_version(zoo, "3")
    assert audit("net", **settings) == 1
    query = "SELECT verdict FROM out_verdicts WHERE entry = 'net'"
    assert fetched(warehouse, query) == [("undecided",)]


def test_a_version_that_arrives_as_the_champion_has_the_verdict_of_the_champion(
    audit, zoo, tmp_path
):
    settings = of_champion(tmp_path)
    put_version(zoo, "1")
    alias(zoo, champion=1)
    audit(**settings)
    put_version(zoo, "2")
    alias(zoo, champion=2)
    assert audit("net", **settings) == 1


def test_no_worse_than_the_champion_is_a_setup_that_works(audit, zoo, warehouse, store, tmp_path):
    settings = of_champion(tmp_path)
    put_version(zoo, "1")
    alias(zoo, champion=1)
    assert audit(**settings) == 4
    accept(store, "try", "net@champion", "in use since May", "ada")
    assert audit(**settings) == 0
    assert audit("net", **settings) == 4  # an acceptance is of one entry
    assert audit(**settings, data=DATA | {"sources": 9}) == 0
    put(zoo / "2", seed=0, lean=0.51)
    assert audit(**settings) == audit("net", **settings) == 0
    # The pairs grow, and the new version becomes the champion.
    assert audit(**settings, **GROWN) == 0
    alias(zoo, champion=2)
    assert audit(**settings, **GROWN) == 0
    put_version(zoo, "3")
    assert audit(**settings, data=DATA | {"sources": 11}) == 1
    query = "SELECT count(DISTINCT source_count) FROM out_drift WHERE against = 'another_entry'"
    assert fetched(warehouse, query) == [(1,)]
    # The latest version is the champion again.
    shutil.rmtree(zoo / "3")
    assert audit(**settings, data=DATA | {"sources": 11}) == 0


def test_the_champion_is_not_judged_where_another_version_is(audit, zoo, tmp_path):
    settings = of_champion(tmp_path)
    put_version(zoo, "1")
    put(zoo / "2", seed=0, lean=0.51)
    alias(zoo, champion=1)
    assert audit(**settings) == audit("net", **settings) == 0
    assert audit("net@champion", **settings) == 4
