"""Charts of a report as files, and ``decaf figure``."""

import io
import re
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest
from ended_commands import succeeded
from PIL import Image
from scenes_warehouse import CHANGES, MODELS, PATHS, STUDY
from stub_audit import Audit, insert_named, six_models

from decaf.errors import BadInput, UnknownName
from decaf.foundation.number_text import score_text
from decaf.library.plots import COLOURS
from flows.commands.figures import figure
from warehouse.report.audit.facts import COMPONENTS
from warehouse.report.charts import MARKS, WRITERS, read_charts, with_legend, write_chart
from warehouse.report.svg import Picture, standalone

SVG = "{http://www.w3.org/2000/svg}"
DEMO = Path(__file__).parents[2] / "configs" / "scenes" / "demo.yaml"


@pytest.fixture(scope="module")
def charts(opened_scenes):
    return read_charts(opened_scenes, STUDY)


def texts(svg):
    return [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_each_kind_of_chart_has_its_pair_types(charts):
    names = "".join(f"{name}\n" for name in charts)
    for kind in ("models", "paths", "stages", "pair-evidence"):
        assert len(re.findall(rf"^{kind}-.+", names, re.MULTILINE)) == len(CHANGES)
    assert "verdict" in charts
    assert all(picture.title and picture.svg for picture in charts.values())
    with pytest.raises(UnknownName, match="did you mean 'verdict'"):
        write_chart(charts, "verdicts", Path("a.svg"))


def test_the_verdict_has_the_numbers_of_the_findings(opened_scenes, charts):
    rows = opened_scenes.sql(
        f"SELECT model_id, max(abs_response) FROM out_model_profiles WHERE study = '{STUDY}' "
        "GROUP BY model_id, pair_type"
    ).fetchall()
    shown = texts(charts["verdict"].svg)
    assert {"Evidence", "Contradiction", "Fragility", MARKS} <= set(shown)
    assert set(MODELS) <= set(shown)
    for _, abs_response in rows:
        assert score_text(abs_response) in shown
    assert {"Evidence", "Contradiction", "Fragility"} <= set(shown), "a legend"


def test_a_pair_is_the_strongest_of_its_role(opened_scenes, charts):
    for component in COMPONENTS:
        strongest = opened_scenes.sql(
            f"SELECT pair_type, max({component}) FROM core_profiles WHERE study = '{STUDY}' "
            "GROUP BY pair_type"
        ).fetchall()
        of_role = [name for name in charts if name.startswith(f"pair-{component}-")]
        assert len(of_role) == sum(value > 0 for _, value in strongest)


@pytest.mark.parametrize("ending", WRITERS)
def test_a_file_has_the_format_of_its_ending(charts, tmp_path, ending):
    target = tmp_path / f"verdict{ending}"
    picture = write_chart(charts, "verdict", target)
    content = target.read_bytes()
    root = ElementTree.fromstring(picture.svg)
    size = float(root.get("width")), float(root.get("height"))
    if ending == ".svg":
        assert b"var(--" not in content
        assert COLOURS["evidence"].encode() in content
        assert ElementTree.fromstring(content).get("viewBox") == f"0 0 {size[0]:g} {size[1]:g}"
    elif ending == ".png":
        image = Image.open(io.BytesIO(content))
        assert image.size == pytest.approx([2 * side for side in size], abs=2)
        assert image.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
        colours = {colour for _, colour in image.convert("RGB").getcolors(10**6)}
        assert tuple(bytes.fromhex(COLOURS["evidence"][1:])) in colours
    else:
        assert content.startswith(b"%PDF-")
        assert content.rstrip().endswith(b"%%EOF")


def test_stages_are_drawn_on_the_path_that_is_asked_for(opened_scenes, charts):
    on_first, on_last = (
        read_charts(opened_scenes, STUDY, stage_path=path) for path in (PATHS[0], PATHS[-1])
    )
    with pytest.raises(UnknownName, match=PATHS[0]):
        read_charts(opened_scenes, STUDY, stage_path=f"{PATHS[0]}x")
    assert on_first == charts
    changed = {name for name in charts if on_last.get(name) != charts[name]}
    assert changed == {name for name in charts if name.startswith("stages-")}


def test_bad_files_and_charts_are_refused(charts, tmp_path):
    for name in ("verdict.gif", "verdict"):
        with pytest.raises(BadInput, match=r"\.svg, \.png, \.pdf"):
            write_chart(charts, "verdict", tmp_path / name)
    with pytest.raises(BadInput, match="nothing to draw"):
        write_chart({"x": Picture("title", "", "nothing to draw")}, "x", tmp_path / "x.svg")
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(BadInput, match="is a folder"):
        write_chart(charts, "verdict", tmp_path / "folder.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.svg"]


def test_a_picture_without_colours_of_roles_gets_no_legend():
    plain = Picture("t", f'<svg xmlns="{SVG[1:-1]}" width="9" height="9"/>')
    assert with_legend(plain) == plain
    assert "<rect" in standalone(plain.svg)


def test_figures_of_the_paper_have_their_names(stub):
    study = six_models()
    names = read_charts(stub(study), study.study, has_paper=True)
    assert any(name.startswith("figure-") for name in names)


def test_versions_of_a_registry_are_a_chart_with_a_legend(stub):
    connection = stub(Audit())
    insert_named(connection, "out_entries", {"entry": "net", "state": "audited"})
    place = {"entry": "net", "pair_type": "mixed_rand", "path": "blend", "change": "weights"}
    versions = [
        place
        | {"resolved_at": datetime(2026, 3, day, tzinfo=UTC), "version": str(day)}
        | {"metric": metric, "value": 0.1 * day, "lower_limit": 0.0, "upper_limit": 1.0}
        for day in (1, 2)
        for metric in COMPONENTS
    ]
    insert_named(connection, "out_history", *versions)
    charts = read_charts(connection, "demo")
    (name,) = [name for name in charts if name.startswith("versions-")]
    assert {"net", "Evidence", "Contradiction", "Fragility"} <= set(texts(charts[name].svg))


def test_the_command_lists_and_writes(scenes, decaf, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "warehouse").symlink_to(scenes)  # as the demo names it
    listed = succeeded(decaf("figure", DEMO, "--list"))
    assert "models-wall-hue" in listed
    assert "demo.yaml differs from the run shown (models, score, paths)" in listed
    assert "verdict.pdf" in succeeded(decaf("figure", DEMO, "verdict", "verdict.pdf"))
    assert (tmp_path / "verdict.pdf").read_bytes().startswith(b"%PDF-")


def test_the_start_of_a_name_suggests_the_whole_name(tmp_path):
    names = ("paths-spurious", "stages-spurious-path-slow")
    charts = {name: Picture(name, "<svg/>") for name in names}
    with pytest.raises(UnknownName, match="did you mean 'stages-spurious-path-slow'"):
        write_chart(charts, "stages-spurious", tmp_path / "x.svg")


@pytest.mark.parametrize("given", [{}, {"chart": "verdict"}, {"chart": "x", "is_list": True}])
def test_the_command_takes_a_chart_and_a_file_or_lists(given):
    with pytest.raises(BadInput, match="--list"):
        figure(DEMO, **given)
