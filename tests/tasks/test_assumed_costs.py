"""Costs of a study on assumed devices, with and without its data."""

import csv
import re
from pathlib import Path

import pytest
from ended_commands import refused, succeeded
from small_studies import of_scenes, untrained

from decaf.errors import BadInput
from decaf.plan.study import Study, load_study
from tasks.assumed_costs import MEASURED, assumed_costs, parse_rate
from tasks.row_counts import count_rows

ROOT = Path(__file__).parents[2]
CONFIGS = ROOT / "configs"


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """Studies of the paper, without their data."""
    monkeypatch.setenv("DECAF_DATA_ROOT", str(tmp_path))
    return lambda name: load_study(CONFIGS / f"{name}.yaml")


@pytest.fixture
def scenes(tmp_path):
    return Study(**of_scenes(tmp_path, [untrained(tmp_path, "one", 1)], 8))


def test_rates_are_those_of_the_benchmarks():
    table = (ROOT / "benchmarks" / "README.md").read_text()
    rows = [line.replace(",", "").replace(" ", "").split("|") for line in table.splitlines()]
    planned = {(row[1], row[3]): row[5] for row in rows if len(row) > 6}
    with MEASURED.open(newline="") as file:
        for line in csv.DictReader(file):
            assert planned[line["network"], line["rows_per_second"]] == line["peak_mb"]


def test_devices_multiply_the_slowest_and_the_fastest_rate(paper):
    study = paper("imagenet9/imagenet9")
    one, four = (parse_rate(text, study) for text in ("H100", "4xh100"))
    assert (one.slowest, one.fastest) == (1159.4, 2838.1)
    assert (four.slowest, four.fastest) == (4 * one.slowest, 4 * one.fastest)
    assert four.memory == (4929, 7909)
    assert len(four.remarks) > len(one.remarks)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("4xA100", "rates of A100, only of H100.*rows per second"),
        ("0xH100", "such as 4xH100"),
        ("4 x H100", "such as 4xH100"),
        ("0", "above zero"),
        ("-5", "above zero"),
        ("nan", "above zero"),
        ("inf", "above zero"),
    ],
)
def test_other_rates_are_refused(paper, text, words):
    with pytest.raises(BadInput, match=words):
        parse_rate(text, paper("imagenet9/imagenet9"))


def test_rates_of_photos_are_not_those_of_tables_and_small_images(paper, scenes):
    for study in (paper("covertype/covertype"), scenes):
        with pytest.raises(BadInput, match="rows per second by hand"):
            parse_rate("H100", study)


def test_costs_of_the_paper_without_data(paper):
    """18 rows for each pair and path of ImageNet-9; 25,920,000 rows of Covertype, as published."""
    study = paper("imagenet9/imagenet9")
    costs = assumed_costs(study, parse_rate("2500", study), None, 3288)
    assert costs.rows == 72 * 3288 * len(study.paths) * 18
    assert costs.hours == pytest.approx((costs.rows / 2500 / 3600,) * 2)
    # 710,208 trajectories of the benchmark are those of three paths.
    assert costs.disk_bytes == pytest.approx(142e6 * len(study.paths) / 3, rel=0.001)
    assert costs.input_bytes is None
    assert any("48 training" in words for words in costs.left_out)
    study = paper("covertype/covertype")
    costs = assumed_costs(study, parse_rate("2500", study), None, 48_000)
    assert costs.rows == 25_920_000


def test_with_data_rows_are_an_upper_bound(scenes):
    pairs = scenes.pair_set()
    costs = assumed_costs(scenes, parse_rate("100", scenes), pairs, 0)
    scored = count_rows(scenes, pairs)
    assert scored.planned <= costs.rows <= scored.naive + len(pairs.inputs)
    assert costs.input_bytes > 0


def test_the_command_prints_costs_and_refuses(decaf, tmp_path):
    config = CONFIGS / "imagenet9" / "imagenet9.yaml"
    words = ("plan", config, "--assume", "2500", "--pairs", "3288", "--price", "10")
    printed = succeeded(decaf(*words, DECAF_DATA_ROOT=str(tmp_path)))
    rows = int(re.search(r"at most ([\d,]+) forward rows", printed)[1].replace(",", ""))
    hours = rows / 2500 / 3600
    assert f"money: {10 * hours:,.2f}" in printed
    assert "time, h:mm:ss: 1:53:38" in printed
    without_data = decaf("plan", config, "--assume", "2500", DECAF_DATA_ROOT=str(tmp_path))
    refused(without_data, "mixed_same", "--pairs")
    refused(decaf("plan", config, "--price", "1", DECAF_DATA_ROOT=str(tmp_path)), "--assume")
