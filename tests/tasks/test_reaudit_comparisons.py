"""References of a version: itself, if it passed before, or another entry."""

import shutil

import pytest
from registry_folder import alias, put
from registry_rounds import recorded, unchanged
from warehouse_answers import fetched

from decaf.errors import ConfigError, UnknownEntry, UnknownName
from decaf.plan.resolution import list_entries
from flows.commands.reaudit_summary import list_remarks
from tasks.reaudit.plan import RegistryDiff, commit_reaudit, discover, is_unchanged
from tasks.reaudit.recorded import ALERTS, newest_reaudit
from tasks.reaudit.standing import accept, rows_of, select_followed
from warehouse.commits.writer import commit
from warehouse.query.catalog import connect


def test_a_content_that_passed_before_takes_over_its_verdict(opened, tmp_path):
    zoo, keys = tmp_path / "zoo" / "net", {}
    study, store = opened()
    for seed, verdict in enumerate(["not applicable", "pass", "fail"]):
        put(zoo / str(seed), seed=seed)
        recorded(study, store, verdict)
        keys[str(seed)] = newest_reaudit(store, study.study).reaudit_id

    def comes_back(version, as_version):
        shutil.copytree(zoo / version, zoo / as_version)
        found = discover(study, store, study.pair_set())
        return found.changes()["net"], found

    change, found = comes_back("1", "4")
    assert (change, found.passed["net"].version) == ("returned", "1")
    other, _ = opened(gates={"evidence": {"at_most": 0.5}})
    assert discover(other, store, other.pair_set()).changes() == {"net": "weights"}
    recorded(study, store)
    row = newest_reaudit(store, study.study).rows["net"]
    assert row["judged_reaudit_id"] == keys["1"]
    assert (row["previous_reaudit_id"], row["passed_reaudit_id"]) == (keys["2"], keys["1"])
    query = "SELECT version, version_passed, version_judged, verdict, change FROM out_entries"
    assert fetched(store, query) == [("4", "1", "1", "pass", "returned")]
    assert unchanged(study, store)
    # What has failed, or was judged by no gate, is judged anew.
    for number, version in enumerate(("0", "2"), 5):
        assert comes_back(version, str(number))[0] == "weights"
    # So is a content that passed beside another version, and failed once.
    recorded(study, store, "pass")
    assert comes_back("1", "8")[0] == "returned"
    assert recorded(study, store).changes() == {"net": "returned"}
    assert comes_back("2", "9")[0] == "weights"


def test_what_changed_while_an_entry_was_broken_is_seen_when_it_is_back(opened, tmp_path):
    folder = put(tmp_path / "zoo" / "net", seed=1)
    recorded(*opened())
    card = (folder / "decaf.yaml").read_text()
    for changed, word in (
        ({"epsilon": 0.1}, "epsilon"),
        ({"epsilon": 0.1, "gates": {"evidence": {"at_most": 0.5}}}, "gates"),
    ):
        (folder / "decaf.yaml").write_text("weights: absent")
        assert recorded(*opened(**changed)).changes() == {"net": "failed"}
        (folder / "decaf.yaml").write_text(card)
        assert recorded(*opened(**changed)).changes() == {"net": word}


def following(tmp_path, *names):
    registry = {"kind": "folder", "root": str(tmp_path / "zoo"), "trusted": ["leaning"]}
    return registry | {"follow": list(names)}


def compared(store, study):
    rows = newest_reaudit(store, study.study).rows.values()
    return {row["entry"]: (row["compared_entry"], row["compared_reaudit_id"]) for row in rows}


def test_versions_are_compared_with_what_an_alias_points_at(opened, tmp_path):
    zoo = tmp_path / "zoo"
    registry = following(tmp_path, "latest", "champion")
    for name, version in (("net", 1), ("net", 2), ("bare", 1)):
        put(zoo / name / str(version), seed=version)
    alias(zoo / "net", champion=1)
    study, store = opened(registry=registry, compare_with="champion")
    recorded(study, store)
    first = newest_reaudit(store, study.study).reaudit_id
    nothing = (None, None)
    by_entry = {"net": ("net@champion", first), "net@champion": nothing, "bare": nothing}
    assert compared(store, study) == by_entry
    query = "SELECT entry, compared_entry, version_compared FROM out_entries ORDER BY entry"
    assert fetched(store, query) == [
        ("bare", None, None),
        ("net", "net@champion", "1"),
        ("net@champion", None, None),
    ]
    # The champion is that of the moment; where it cannot be audited, it is its last version.
    put(zoo / "net" / "3", seed=3)
    alias(zoo / "net", champion=2)
    recorded(study, store)
    second = newest_reaudit(store, study.study).reaudit_id
    assert compared(store, study)["net"] == ("net@champion", second)
    put(zoo / "net" / "4", seed=4)
    alias(zoo / "net", champion=7)
    recorded(study, store)
    assert compared(store, study)["net"] == ("net@champion", second)
    # A version that is asked for, of a model without the alias, is compared with what passed last.
    put(zoo / "bare" / "2", seed=5)
    asked = ["bare@1", "net@3"]
    found = discover(study, store, study.pair_set(), asked)
    commit_reaudit(found, "run")
    query = "SELECT entry, compared_entry, version_compared FROM out_entries "
    query += "WHERE NOT is_followed ORDER BY entry"
    assert fetched(store, query) == [("bare@1", "bare", "1"), ("net@3", "net@champion", "2")]


@pytest.mark.parametrize(
    ("registry", "compare_with"),
    [
        ({"follow": ["latest"]}, "champion"),
        ({"follow": ["latest", "champion"]}, "champoin"),
        ({"kind": "names", "names": ["torchvision:resnet18.IMAGENET1K_V1"]}, "champion"),
    ],
)
def test_an_alias_that_is_not_followed_is_refused(opened, tmp_path, registry, compare_with):
    given = registry if "kind" in registry else following(tmp_path) | registry
    words = f"'compare_with': '{compare_with}' is neither last_passed nor previous nor an alias"
    with pytest.raises(ConfigError, match=words):
        opened(registry=given, compare_with=compare_with)


def test_a_version_that_is_asked_for_stands_for_itself_alone(opened, tmp_path):
    zoo = tmp_path / "zoo"
    for version in (1, 2, 3):
        put(zoo / "net" / str(version), seed=version)
        study, store = opened()
        recorded(study, store, "fail" if version == 3 else "pass")
    last = newest_reaudit(store, study.study)
    asked, pairs = ["net@2"], study.pair_set()
    entries = list_entries(study.registry, asked)
    assert [entry.label for entry in entries] == ["net", "net@2"]
    assert not is_unchanged(study, store, entries, pairs, asked)
    found = discover(study, store, pairs, asked)
    assert found.changes() == {"net": "none", "net@2": "new"}
    commit(store, ALERTS, study.study, commit_reaudit(found, "run"), {})
    # Compared with the last version that passed, which is not the one that is there.
    query = "SELECT version, compared_entry, version_compared FROM out_entries ORDER BY entry"
    assert fetched(store, query) == [("3", None, None), ("2", "net", "2")]
    # It is no entry: it is not gone tomorrow, and its verdict is not told of.
    assert unchanged(study, store)
    assert newest_reaudit(store, study.study).rows.keys() == last.rows.keys()
    with connect(store) as connection:
        rows = rows_of(connection, "FROM out_entries WHERE study = $study", study=study.study)
    assert [row["entry"] for row in select_followed(rows)] == ["net"]
    with pytest.raises(UnknownName, match="'net@2'.*'net'"):
        accept(store, study.study, "net@2", "why", "ada")
    with pytest.raises(UnknownEntry, match="'net@9'"):
        discover(study, store, pairs, ["net@9"])


def test_a_model_whose_name_looks_like_a_version_is_followed(opened, tmp_path):
    put(tmp_path / "zoo" / "net" / "1", seed=1)
    put(tmp_path / "zoo" / "net@2" / "2", seed=2)
    study, store = opened()
    recorded(study, store, "fail")
    with connect(store) as connection:
        rows = rows_of(connection, "FROM out_entries WHERE study = $study", study=study.study)
    assert [(row["entry"], row["version"]) for row in select_followed(rows)] == [
        *(("net", "1"), ("net@2", "2"))
    ]
    assert newest_reaudit(store, study.study).rows.keys() == {"net", "net@2"}


def test_an_entry_is_judged_again_when_the_alias_to_compare_with_moves(opened, tmp_path):
    """Also if its content passed against the earlier version of the alias, and comes back."""
    zoo, gates = tmp_path / "zoo" / "net", {"evidence": {"increase": 0.02}}
    settings = {"registry": following(tmp_path, "latest", "champion"), "gates": gates}
    for version in ("1", "2", "3"):
        put(zoo / version, seed=int(version))
    alias(zoo, champion=2)
    study, store = opened(**settings, compare_with="champion")
    recorded(study, store, "pass")
    first = newest_reaudit(store, study.study).reaudit_id
    assert unchanged(study, store)

    def move(version):
        alias(zoo, champion=version)
        assert not unchanged(study, store)
        changes = recorded(study, store).changes()
        assert unchanged(study, store)
        return changes["net"], newest_reaudit(store, study.study)

    change, moved = move(1)
    assert change == "compared"
    row = moved.rows["net"]
    assert row["judged_reaudit_id"] == row["compared_reaudit_id"] == moved.reaudit_id
    assert row["previous_reaudit_id"] is row["passed_reaudit_id"] is None
    # The alias of the same content under another number, and its own entry, change nothing.
    shutil.copytree(zoo / "1", zoo / "1b")
    assert move("1b")[0] == "none"
    # A content that passed against 2 passes by its old verdict against 2 only.
    put(zoo / "4", seed=4)
    recorded(study, store, "fail")
    shutil.copytree(zoo / "3", zoo / "5")
    assert discover(study, store, study.pair_set()).changes()["net"] == "weights"
    alias(zoo, champion=2)
    found = discover(study, store, study.pair_set())
    assert (found.changes()["net"], found.passed["net"].judged_reaudit_id) == ("returned", first)
    # An alias that is gone is no alias to compare with.
    (zoo / "aliases.yaml").unlink()
    recorded(study, store)
    assert compared(store, study)["net"] == (None, None)
    assert unchanged(study, store)


def test_verdicts_of_an_earlier_release_are_found_to_be_outdated(opened, tmp_path, monkeypatch):
    zoo = tmp_path / "zoo" / "net"
    registry = following(tmp_path, "latest", "champion")
    for version in ("1", "2", "3"):
        put(zoo / version, seed=int(version))
    alias(zoo, champion=2)
    study, store = opened(registry=registry, compare_with="champion")
    recorded(study, store)
    alias(zoo, champion=1)
    with monkeypatch.context() as patch:
        patch.setattr(RegistryDiff, "_has_another_reference", lambda *_: False)
        assert recorded(study, store).changes()["net"] == "none"
    assert not unchanged(study, store)
    assert recorded(study, store).changes()["net"] == "compared"
    assert unchanged(study, store)


@pytest.mark.parametrize(("is_accepted", "passed", "remarked"), [(False, "1", 1), (True, "2", 0)])
def test_a_version_that_passes_by_looser_gates_is_no_reference(
    opened, tmp_path, is_accepted, passed, remarked
):
    """Version 2 failed at 0.1 and passed at 0.5; version 3 is judged at 0.1 again."""
    zoo = tmp_path / "zoo" / "net"

    def judge(version, verdict, limit):
        if not (zoo / version).exists():
            put(zoo / version, seed=int(version))
        study, store = opened(gates={"evidence": {"at_most": limit}})
        recorded(study, store, verdict, gate_limit=limit)
        entries = fetched(store, "SELECT version, version_passed, change FROM out_entries")
        remarks = [line for line in list_remarks(store, study, []) if "2 failed" in line]
        return study, store, entries, remarks

    judge("1", "pass", 0.1)
    judge("2", "fail", 0.1)
    study, store, entries, (remark,) = judge("2", "pass", 0.5)
    assert entries == [("2", "1", "gates")]
    assert "net 2 failed evidence" in remark
    assert "with version 1, unless" in remark
    if is_accepted:
        accept(store, study.study, "net", "a brighter camera", "ada")
    _, _, entries, remarks = judge("3", "pass", 0.1)
    assert entries == [("3", passed, "weights")]
    assert sum("version 1, not 2" in remark for remark in remarks) == remarked == len(remarks)
