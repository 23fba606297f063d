"""docs/story.md: its commands and settings as they stand, and every figure; digits may differ."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import torch
import yaml
from ended_commands import refused, succeeded
from flow_fixtures import use_workers
from printed_words import words_and_numbers
from warehouse_answers import fetched

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "story.md").read_text()
CLEAN_GATE, BOTH_GATES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
SHOWN = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
SETUP, *COMMANDS = re.findall(r"(?:^    .*\n)+", PAGE, re.MULTILINE)
MEANS = ("endpoint_magnitude", "evidence", "contradiction", "fragility", "abs_response")


def figures(pattern):
    """Numbers of the page at the groups of a pattern, as far as processors agree on them."""
    numbers = re.search(pattern, PAGE).groups()
    return pytest.approx([float(number) for number in numbers], rel=0.05, abs=0.002)


def train(folder, decaf, workers):
    """Run the part of the demo that the story uses: the two networks of unrelated walls."""
    demo = ROOT / "configs" / "scenes" / "demo.yaml"
    settings = yaml.safe_load(demo.read_text().replace("!file ", ""))
    models = yaml.safe_load((demo.parent / settings["models"]).read_text())
    settings["models"] = [card for card in models if card["id"].endswith("wall50")]
    settings["data"]["changes"] = {"wall_hue": 1}
    del settings["expect"], settings["names"]
    settings |= {"paths": {"blend": settings["paths"]["blend"]}, "cluster": workers}
    (folder / "demo.yaml").write_text(json.dumps(settings))
    succeeded(decaf("run", "demo.yaml"))


def check_output(shown, printed):
    """Check that each line that the page shows was printed, with other digits at most."""
    lines = {}
    for words, numbers in map(words_and_numbers, printed.splitlines()):
        lines.setdefault(words.strip(), []).append(numbers)
    for words, numbers in map(words_and_numbers, shown.splitlines()):
        assert words.strip() in lines
        assert pytest.approx(numbers, rel=0.05, abs=0.002) in lines[words.strip()]


def check_demo(warehouse):
    accuracy = "SELECT 100 * accuracy FROM core_factual_accuracy WHERE study = 'demo' ORDER BY 1"
    shares = [share for (share,) in fetched(warehouse, accuracy)]
    assert shares[::-1] == figures(r"demo's scenes is (\d+\.\d+) %, against (\d+\.\d+) %")
    response = "SELECT abs_response FROM out_model_profiles WHERE study = 'demo' ORDER BY model_id"
    means = [mean for (mean,) in fetched(warehouse, response)]
    assert means == figures(r"Abs of (\d+\.\d+) for the CNN and (\d+\.\d+) for the ViT")


def check_means(warehouse):
    query = f"SELECT {', '.join(MEANS)} FROM out_model_profiles WHERE study = 'story'"
    limits = (
        "SELECT lower_95, upper_95 FROM out_model_intervals WHERE study = 'story' AND "
        "pair_type = 'wall_hue' AND metric IN ('endpoint_magnitude', 'fragility') "
    )
    for family in ("cnn", "vit"):
        one = f" AND pair_type = 'wall_hue' AND model_id LIKE '{family}%'"
        ((magnitude, evidence, contradiction, fragility, response),) = fetched(
            warehouse, query + one
        )
        clean, unstable = fetched(warehouse, limits + one + " ORDER BY metric")
        row = [magnitude, *clean, evidence, contradiction, fragility, *unstable, response]
        (line,) = re.findall(rf"^\| {family} .*$", PAGE, re.MULTILINE)
        numbers = [float(number) for number in re.findall(r"\d+\.\d+", line)]
        assert row == pytest.approx(numbers, rel=0.05, abs=0.002)
    floor = query.replace("endpoint_magnitude, evidence, contradiction, fragility, ", "")
    control = fetched(warehouse, f"{floor} AND pair_type = 'floor_hue' ORDER BY model_id")
    moved = r"a new floor moves its score by (\d+\.\d+), and that of the ViT by (\d+\.\d+)"
    assert [mean for (mean,) in control] == figures(moved)


def check_difference(warehouse):
    names = [name for (name,) in fetched(warehouse, "SELECT model_id FROM out_models ORDER BY 1")]
    cnn, vit = (name for name in names if name.startswith(("cnn", "vit")))
    (difference,) = fetched(
        warehouse,
        "SELECT difference, lower_limit, upper_limit "
        "FROM mean_differences('model_id', $cnn, $vit, 500, 91702, [0.95]) "
        "WHERE study = 'story' AND pair_type = 'wall_hue' AND metric = 'fragility'",
        cnn=cnn,
        vit=vit,
    )
    assert [*difference] == figures(r"paired difference is (\d+\.\d+) \((\d+\.\d+) to (\d+\.\d+)\)")


def check_pair(warehouse, pair):
    stages = (
        "SELECT t, q_plus, q_minus, response FROM core_stages WHERE study = 'story' AND "
        f"pair_id = '{pair}' AND model_id LIKE 'cnn%' ORDER BY t"
    )
    *_, (_, factual, changed, _) = rows = fetched(warehouse, stages)
    assert [factual, changed] == figures(r"clean scores are (\d+\.\d+) and (\d+\.\d+)")
    strongest, revealed = max((response, t) for t, *_, response in rows)
    assert [strongest] == figures(r"the response is \+(\d+\.\d+)")
    assert revealed == pytest.approx(0.2, abs=0.05)


@pytest.mark.slow
def test_the_story_happens_as_it_is_told(decaf, workers, tmp_path):
    train(tmp_path, decaf, workers)
    subprocess.run(["bash", "-ec", SETUP], cwd=tmp_path, check=True)
    reaudit, query, again = (command.strip().split(maxsplit=2) for command in COMMANDS)
    study = tmp_path / reaudit[2]
    study.write_text(CLEAN_GATE)
    use_workers(study, workers)
    check_output(SHOWN[0], succeeded(decaf(*reaudit[1:])))

    warehouse = tmp_path / "runs" / "warehouse"
    check_demo(warehouse)
    if torch.backends.cpu.get_cpu_capability() == "AVX2":
        pytest.skip("with AVX2, training rounds to other networks than those of the page")
    check_means(warehouse)
    check_difference(warehouse)
    (strongest,) = fetched(warehouse, query[2].strip('"'))
    assert abs(strongest[2]) < 0.02
    check_pair(warehouse, strongest[1])

    assert again == reaudit
    study.write_text(CLEAN_GATE.partition("gates:")[0] + BOTH_GATES)
    use_workers(study, workers)
    failed = decaf(*again[1:])
    refused(failed, "cnn 1 failed fragility", code=1)
    check_output(SHOWN[1], failed.stdout)
