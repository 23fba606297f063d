"""Exit codes of a re-audit that finds nothing changed, by the verdict that is recorded."""

import shutil

import pytest
from registry_folder import alias, put
from registry_rounds import recorded
from rich.console import Console

from decaf.errors import BadInput, DecafError, GatesFailed, GatesUndecided, UnknownEntry
from flows.commands.reaudit_summary import list_remarks
from flows.commands.reaudits import reaudit
from flows.final_state import final_state
from tasks.reaudit import standing, write_back
from tasks.reaudit.recorded import newest_reaudit

GATES = {"evidence": {"at_most": 0.1}}
FAILED, UNSURE, INAPPLICABLE = "fail", "undecided", "not applicable"


@pytest.fixture
def exit_code(opened, config, tmp_path):
    """Record one verdict on a first version; give the exit codes of re-audits after it."""

    def of(verdict, **changed):
        settings = {"gates": GATES} | changed
        put(tmp_path / "zoo" / "net" / "1", seed=1)
        study, store = opened(**settings)
        recorded(study, store, verdict)

        def again():
            try:
                reaudit(Console(), config(**settings), is_plan=False, is_json=False)
            except DecafError as error:
                return error.exit_code
            return 0

        return again, store, study.study

    return of


@pytest.mark.parametrize(
    ("verdict", "code"), [("pass", 0), (FAILED, 1), (UNSURE, 4), (INAPPLICABLE, 4)]
)
def test_a_verdict_keeps_its_exit_code_when_nothing_has_changed(exit_code, verdict, code):
    again, *_ = exit_code(verdict)
    assert again() == code


@pytest.mark.parametrize(("verdict", "code"), [(FAILED, 1), (UNSURE, 0), (INAPPLICABLE, 0)])
def test_a_study_may_let_undecided_verdicts_pass(exit_code, capsys, verdict, code):
    again, *_ = exit_code(verdict, undecided="pass")
    assert again() == code
    assert ("net 1" in capsys.readouterr().err) is (code == 0)  # what passes so is printed


@pytest.mark.parametrize("verdict", [FAILED, INAPPLICABLE])
def test_what_did_not_pass_can_be_accepted(exit_code, verdict):
    again, store, study = exit_code(verdict)
    code = again()
    standing.accept(store, study, "net", "the lamp is new", "ada")
    assert again() == 0
    standing.accept(store, study, "net", "it is not", "ada", is_undo=True)
    assert again() == code


def test_an_acceptance_follows_the_content(opened, tmp_path):
    zoo = tmp_path / "zoo" / "net"
    study, store = opened(gates=GATES)

    def is_accepted():
        return [row["accepted_by"] for row in standing.list_standing(store, study.study)] == ["ada"]

    put(zoo / "7", seed=7)
    recorded(study, store, FAILED)
    standing.accept(store, study.study, "net", "the lamp is new", "ada")
    shutil.copytree(zoo / "7", zoo / "8")
    assert recorded(study, store).changes() == {"net": "version"}
    assert is_accepted()
    put(zoo / "9", seed=9)
    recorded(study, store, FAILED)
    assert not is_accepted()
    shutil.copytree(zoo / "7", zoo / "10")
    assert recorded(study, store).changes() == {"net": "returned"}
    assert is_accepted()


def test_what_passed_needs_no_acceptance(exit_code):
    _, store, study = exit_code("pass")
    with pytest.raises(BadInput, match="'pass'"):
        standing.accept(store, study, "net", "the lamp is new", "ada")


def test_a_version_that_was_not_audited_has_nothing_to_accept(opened, tmp_path):
    put(tmp_path / "zoo" / "net" / "1", seed=1)
    study, store = opened(gates=GATES)
    recorded(study, store, "fail")
    (put(tmp_path / "zoo" / "net" / "2", seed=2) / "decaf.yaml").write_text("{}")
    recorded(study, store)
    with pytest.raises(BadInput, match="net 2 was not audited"):
        standing.accept(store, study.study, "net", "the lamp is new", "ada")


def test_a_version_of_several_entries_has_their_worst_verdict(opened, settings, tmp_path):
    put(tmp_path / "zoo" / "net" / "1", seed=1)
    alias(tmp_path / "zoo" / "net", champion=1, next=1)
    follow = ["latest", "champion", "next"]
    study, store = opened(gates=GATES, registry=settings["registry"] | {"follow": follow})
    verdicts = {"net": "fail", "net@champion": "fail", "net@next": "undecided"}
    recorded(study, store, verdicts)

    def answer():
        ((version, answer),) = write_back.answers(store, study).items()
        assert version == ("net", "1")
        return answer

    assert answer()[:2] == ("fail", "no")
    standing.accept(store, study.study, "net", "the lamp is new", "ada")
    assert answer()[:2] == ("fail", "no")
    standing.accept(store, study.study, "net@champion", "the room is dark", "bob")
    assert answer() == ("undecided", "", "")
    standing.accept(store, study.study, "net@next", "few pairs", "cy")
    assert answer().verdict == "accepted"
    for why in ("the lamp is new", "the room is dark", "few pairs"):
        assert why in answer().accepted
    standing.accept(store, study.study, "net", "it is not", "ada", is_undo=True)
    assert answer()[:2] == ("fail", "no")


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (GatesFailed("x"), "NeedsAttention"),
        (GatesUndecided("x"), "Undecided"),
        (BadInput("x"), "Failed"),
        (DecafError("x"), "Failed"),
    ],
)
def test_states_of_prefect_tell_exit_codes_apart(error, name):
    state = final_state(error)
    assert (state.type.value, state.name) == ("FAILED", name)
    assert str(error.exit_code) in state.message


@pytest.mark.parametrize("verdict", [FAILED, UNSURE])
def test_the_exit_code_is_about_the_entries_that_were_asked_for(
    opened, config, tmp_path, capsys, verdict
):
    for name in ("net", "other"):
        put(tmp_path / "zoo" / name / "1", seed=1)
    study, store = opened(gates=GATES)
    recorded(study, store, verdict)

    def code_of(*only):
        try:
            reaudit(Console(), config(gates=GATES), is_plan=False, is_json=False, only=only)
        except DecafError as error:
            return error.exit_code
        return 0

    assert (code_of("other"), code_of("net")) == (0, {FAILED: 1, UNSURE: 4}[verdict])
    assert code_of("net", "other") == code_of() == code_of("net")
    capsys.readouterr()
    code_of("other")
    assert "net" in capsys.readouterr().err


@pytest.mark.parametrize("verdict", [FAILED, UNSURE])
def test_the_name_of_a_model_stands_for_all_its_entries(
    opened, config, settings, tmp_path, verdict
):
    for name in ("net", "other"):
        put(tmp_path / "zoo" / name / "1", seed=1)
        alias(tmp_path / "zoo" / name, champion=1)
    registry = settings["registry"] | {"follow": ["latest", "champion"]}
    study, store = opened(gates=GATES, registry=registry)
    recorded(study, store, {"net": "pass", "net@champion": verdict, "other": "pass"})

    def code_of(*only):
        path = config(gates=GATES, registry=registry)
        try:
            reaudit(Console(), path, is_plan=False, is_json=False, only=only)
        except DecafError as error:
            return error.exit_code
        return 0

    code = {FAILED: 1, UNSURE: 4}[verdict]
    assert [code_of("net"), code_of("net@champion"), code_of("other", "net")] == [code] * 3
    assert (code_of("other"), code_of("other@champion")) == (0, 0)


@pytest.mark.parametrize("changed", [None, {}, {"epsilon": 0.1}])
@pytest.mark.parametrize("is_plan", [False, True])
def test_a_misspelt_entry_is_refused_before_anything_is_audited(
    opened, config, tmp_path, capsys, changed, is_plan
):
    """On the first night, without a change, and after a change of the study."""
    put(tmp_path / "zoo" / "net" / "1", seed=1)
    if changed is not None:
        recorded(*opened(gates=GATES), "pass")
    path = config(gates=GATES, **changed or {})
    study, store = opened(gates=GATES, **changed or {})
    before = newest_reaudit(store, study.study)
    for name in ("nett", "net@1x"):
        with pytest.raises(UnknownEntry) as raised:
            reaudit(Console(), path, is_plan=is_plan, is_json=False, only=[name])
        assert raised.value.exit_code == 2
        assert name in str(raised.value)
    assert newest_reaudit(store, study.study) == before
    if changed == {} and not is_plan:
        capsys.readouterr()
        reaudit(Console(), path, is_plan=False, is_json=False, only=["nett", "net"])
        assert "'nett'" in capsys.readouterr().err


def test_an_alias_that_no_model_has_is_remarked_on(opened, config, settings, tmp_path, capsys):
    put(tmp_path / "zoo" / "net" / "1", seed=1)
    (tmp_path / "zoo" / "net" / "aliases.yaml").write_text("champion: 1\n")
    follow = ["latest", "champion", "champoin"]
    changed = {"gates": GATES, "registry": settings["registry"] | {"follow": follow}}
    study, store = opened(**changed)
    recorded(study, store, "pass")
    reaudit(Console(), config(**changed), is_plan=False, is_json=False)
    warnings = [line for line in capsys.readouterr().err.splitlines() if "alias" in line]
    assert ["'champoin'" in line for line in warnings] == [True]


@pytest.mark.parametrize(
    ("verdict", "undecided", "codes"),
    [("pass", None, (4, 0)), ("pass", "pass", (4, 0)), (FAILED, None, (1, 1))],
)
def test_a_version_that_is_being_copied_is_not_passed(
    exit_code, tmp_path, capsys, verdict, undecided, codes
):
    again, *_ = exit_code(verdict, undecided=undecided)
    copied = tmp_path / "zoo" / "net" / "2"
    copied.mkdir()
    first = again()
    assert str(copied) in capsys.readouterr().err
    copied.rename(copied.with_name(".2"))
    assert (first, again()) == codes


@pytest.mark.parametrize("is_warned", [False, True])
def test_another_warehouse_of_the_environment_is_warned_of(
    exit_code, tmp_path, monkeypatch, capsys, is_warned
):
    again, store, _ = exit_code("pass")
    place = tmp_path / "other" if is_warned else store.address
    monkeypatch.setenv("DECAF_WAREHOUSE", str(place))
    assert again() == 0
    assert ("DECAF_WAREHOUSE" in capsys.readouterr().err) is is_warned


@pytest.mark.parametrize("undecided", [None, "pass"])
def test_a_failed_version_does_not_pass_without_gates(opened, config, tmp_path, undecided):
    put(tmp_path / "zoo" / "net" / "1", seed=1)
    recorded(*opened(gates=GATES), FAILED)
    settings = {"gates": {}, "undecided": undecided}
    study, store = opened(**settings)
    assert recorded(study, store).changes() == {"net": "gates"}

    def code():
        try:
            reaudit(Console(), config(**settings), is_plan=False, is_json=False)
        except DecafError as error:
            return error.exit_code
        return 0

    assert code() == 4
    standing.accept(store, study.study, "net", "the lamp is new", "ada")
    assert code() == 0
    standing.accept(store, study.study, "net", "it is not", "ada", is_undo=True)
    assert code() == 4


@pytest.mark.parametrize(
    ("version", "verdict", "changed", "word"),
    [
        ("1", "pass", {"stages": 5}, "stages"),
        ("1", "pass", {"gates": {"evidence": {"at_most": 0.5}}}, "gates"),
        ("1", FAILED, {"gates": {"evidence": {"at_most": 0.05}}}, None),
        ("2", "pass", {}, None),
        ("2", UNSURE, {}, "version 2"),
        (None, None, {}, "no longer"),
    ],
)
def test_the_end_of_a_failure_is_remarked_on(opened, tmp_path, version, verdict, changed, word):
    """Unless a new version passes; two re-audits later, the end is no news."""
    zoo, settings = tmp_path / "zoo", {"gates": GATES} | changed
    put(zoo / "net" / "1", seed=1)
    put(zoo / "other" / "1", seed=9)
    recorded(*opened(gates=GATES), {"net": FAILED, "other": "pass"})
    if version is None:
        shutil.rmtree(zoo / "net")
    elif version != "1":
        put(zoo / "net" / version, seed=int(version))

    def remarks(verdicts):
        study, store = opened(**settings)
        recorded(study, store, verdicts)
        return [line for line in list_remarks(store, study, []) if "failure of net 1" in line]

    found = remarks({"net": verdict, "other": "pass"} if verdict else {"other": "pass"})
    assert [word in line for line in found] == ([] if word is None else [True])
    put(zoo / "other" / "2", seed=8)
    assert remarks({"other": "pass"}) == []
