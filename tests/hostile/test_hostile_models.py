"""Models that raise, crash, hang, print or answer with something else, beside a good one."""

import shutil

import pytest
import yaml
from ended_commands import refused, succeeded
from flow_fixtures import NETWORKS
from small_studies import of_scenes
from warehouse_answers import fetched

MOST_SECONDS = 300
"""Against hangs."""
NO_WORD = "ended 3 workers"
FATAL = "fatal error"
TOO_LONG = "'timeout:'"

OF_TWO_WORKERS = {
    "recurses": "RecursionError",
    "recurses_in_c": "RecursionError",
    "mute": "Mute: ",
    "long_winded": "xxx",
    "foreign": "Foreign: 1 and 2",
    "chained": "LookupError: after another",
    "grouped": "ExceptionGroup: several (2 sub-exceptions)",
    "exits": "SystemExit: 0",
    "interrupts": "KeyboardInterrupt",
    "stops_generators": "GeneratorExit",
    "stops_iteration": "StopIteration",
    "base": "Nobody: of no kind",
    "warns": "UserWarning: raised",
    "ends_its_process": NO_WORD,
    "ends_later": NO_WORD,
    "segfaults": f"{FATAL} (Segmentation fault, in string_at",
    "hangs_in_c": TOO_LONG,
    "hangs_when_made": TOO_LONG,
    "exits_when_made": "SystemExit: 1",
    "nan": "8 of 8",
    "infinite": "-inf to inf",
    "nan_above_0.7": "4 of 8",
    "no_rows": "(0, 2)",
    "one_row_less": "inputs",
    "three_classes": "(1, 3)",
    "four_axes": "(1, 3, 32, 32)",
    "a_number": "shape ()",
    "nothing": "object",
    "ragged": "different shapes",
    "mixed": "real numbers",
    "of_dicts": "object",
    "complex_numbers": "complex64",
    "truths": "bool",
    "dates": "datetime64[s]",
    "masked": "masked",
    "huge_numbers": "2^53",
    "percent": "probabilities",
    "refuses": "not for me",
}
OF_ONE_WORKER = {
    "ends_well": NO_WORD,
    "aborts": f"{FATAL} (Aborted, in aborts",
    "hangs": TOO_LONG,
}
FINE = {"good": 8, "prints": 8, "nan_above_0.78": 7}
"""Those that are audited, and how many trajectories of them are finite."""


def card(name):
    """Settings of a model by the name of its function, with what the function is made from."""
    function, _, red = name.partition("_above_")
    given = {"id": name, "family": "any", "source": "function", "output": "probabilities"}
    given |= {"timeout": 1.5} if name.startswith("hangs") else {}
    if red:
        return given | {"function": "hostile:nan_above", "arguments": {"red": float(red)}}
    made = {"arguments": {}} if name.endswith("_when_made") else {}
    return given | made | {"function": f"hostile:{function}"}


def settings(folder, names, **changed):
    """Settings of a study of such models, with eight trajectories of each."""
    return of_scenes(
        folder,
        map(card, names),
        sources=4,
        seed=1,
        sources_per_block=2,
        quarantine=0.3,
        python_path=[str(NETWORKS)],
        **changed,
    )


@pytest.fixture(scope="module")
def audited(warm_command, prefect_server, tmp_path_factory):
    """Audit such models on as many workers: folder and output; once for each number."""
    done = {}

    def audit(number):
        if number not in done:
            folder = tmp_path_factory.mktemp("hostile")
            names = (*FINE, *(OF_ONE_WORKER if number == 1 else OF_TWO_WORKERS))
            cluster = {"kind": "local", "workers": number}
            config = folder / "study.yaml"
            given = settings(folder, names, cluster=cluster)
            config.write_text(yaml.safe_dump(given))
            command = warm_command.start(["run", config], folder, prefect_server)
            done[number] = folder, command.completed(MOST_SECONDS)
        return done[number]

    return audit


CASES = [
    *((2, name, words) for name, words in OF_TWO_WORKERS.items()),
    *((1, name, words) for name, words in OF_ONE_WORKER.items()),
]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "name", "words"), CASES)
def test_a_hostile_model_fails_by_name(audited, number, name, words):
    check_message(audited(number)[1], name, words)


def check_message(done, name, words):
    message = refused(done, code=3).rpartition("error: ")[2]
    lines = [line for line in message.splitlines() if line.startswith(f"{name}: ")]
    lines = [line for line in lines if not line.endswith(":")]  # a headline of several tasks
    lines += [line.strip() for line in message.splitlines() if line.startswith(f"  {name}-")]
    assert lines
    assert all(words in line for line in lines), lines
    assert all(len(line) < 3000 for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize(("name", "count"), FINE.items())
def test_models_beside_hostile_ones_are_audited(audited, number, name, count):
    folder, done = audited(number)
    assert f"\n{name}: " not in done.stderr
    query = "SELECT count(*) FROM core_trajectories WHERE model_id = $name"
    assert fetched(folder / "warehouse", query, name=name) == [(count,)]


@pytest.mark.slow
def test_what_models_print_is_in_a_file_and_not_on_the_terminal(audited):
    folder, done = audited(1)
    assert "a word of" not in done.stdout + done.stderr
    printed = (folder / "workspace" / "prints" / "try.log").read_text()
    for word in ("Python", "error", "another process"):
        assert f"a word of {word}" in printed


@pytest.mark.slow
def test_a_quarantine_that_is_allowed_is_counted_and_the_answer_stays(
    tmp_path, write, decaf, prefect_server, workers
):
    given = settings(tmp_path, ("good", "nan_above_0.7"), cluster=workers)
    too_many = "nan_above_0.7: 4 of 8"
    for _ in range(2):
        done = decaf("run", write(given), **prefect_server)
        refused(done, too_many, code=3)
    assert "trying" not in done.stderr  # nothing was computed again
    lenient = write(given | {"quarantine": 0.5})
    done = decaf("run", lenient, **prefect_server)
    assert "nan_above_0.7: 4" in succeeded(done)
    assert "nothing to do" in succeeded(decaf("run", lenient))
    refused(decaf("run", write(given)), too_many, code=3)


@pytest.mark.slow
def test_entries_of_a_registry_that_end_their_worker_or_are_nan_fail_alone(
    tmp_path, write, decaf, prefect_server
):
    for name in ("good", "ends_its_process", "nan", "recurses", "nan_above_0.78"):
        folder = tmp_path / "zoo" / name.replace("_above_0.78", "_seldom")
        folder.mkdir(parents=True)
        entry = {key: value for key, value in card(name).items() if key != "id"}
        (folder / "decaf.yaml").write_text(yaml.safe_dump(entry))
    registry = {"kind": "folder", "root": str(tmp_path / "zoo"), "trusted": ["hostile"]}
    config = write(settings(tmp_path, (), registry=registry))
    done = decaf("reaudit", config, **prefect_server)
    message = refused(done, "3 failures", code=1)
    for word in ("8 of 8", NO_WORD, "RecursionError"):
        assert word in message
    assert "1 of its trajectories" in done.stdout
    query = "SELECT entry, state FROM out_entries"
    assert dict(fetched(tmp_path / "warehouse", query)) == {
        "ends_its_process": "failed",
        "good": "audited",
        "nan": "failed",
        "nan_seldom": "audited",
        "recurses": "failed",
    }
    for name in ("ends_its_process", "recurses"):
        shutil.rmtree(tmp_path / "zoo" / name)
    done = decaf("reaudit", config, **prefect_server)
    refused(done, "1 failure", "8 of 8", code=1)
    assert "starting workers" not in done.stderr
