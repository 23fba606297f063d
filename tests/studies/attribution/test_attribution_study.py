"""Attribution methods on images with held-out operators, through the command line."""

import featured_images
import pytest
from ended_commands import refused, succeeded
from PIL import Image

from warehouse.query.catalog import connect

COUNT = 6
OPERATORS = ("telea", "texture")
ADAPTER = '''"""Cells of images; a held-out operator paints a cell black or white."""

from dataclasses import replace
from typing import ClassVar, Literal

from decaf.data.adapters.image_features import ImageFeatures
from decaf.data.pairs import Input

LEVELS = {"telea": 0, "texture": 255}


class HeldOutCells(ImageFeatures):
    examples: ClassVar = ()
    adapter: Literal["held_out_cells"]

    def pair_set(self):
        cells = super().pair_set()
        inputs, masks, pairs = [*cells.inputs], [*cells.masks], [*cells.pairs]
        for pair in cells.pairs:
            image = cells.inputs[pair.plus]
            for operator in LEVELS:
                name = f"{operator}__{pair.pair_type}"
                changed = replace(
                    image, image_id=f"{image.image_id}/{name}", variant=operator,
                    digest=f"{image.digest} {name}", location=f"{image.location}|{name}",
                )
                inputs.append(changed)
                masks.append(cells.masks[pair.plus])
                pair_id = f"{image.image_id}__{name}"
                pairs.append(
                    replace(pair, pair_id=pair_id, pair_type=name, minus=len(inputs) - 1)
                )
        return replace(cells, inputs=tuple(inputs), masks=tuple(masks), pairs=tuple(pairs))

    def verify(self, pairs):
        """Every image is ours."""

    def read_input(self, image):
        location, _, name = image.location.partition("|")
        pixels = super().read_input(replace(image, location=location)).copy()
        if name:
            operator, _, cell = name.partition("__")
            row, column = int(cell[1]) - 1, int(cell[3]) - 1
            pixels[16 * row : 16 * row + 16, 16 * column : 16 * column + 16] = LEVELS[operator]
        return pixels
'''


@pytest.fixture
def cells(study, tmp_path):
    """The small study over six images of four cells, with two attribution methods."""
    featured_images.photos(tmp_path / "photos", COUNT)
    (tmp_path / "held_out_cells.py").write_text(ADAPTER)
    data = {"adapter": "held_out_cells:HeldOutCells", "images": str(tmp_path / "photos")}
    data |= {"features": {"kind": "grid", "side": 2}}
    removal = {"kind": "removal", "pair_types": ["r1c1", "r1c2", "r2c1", "r2c2"]}
    methods = {"gradient": {"kind": "input_x_gradient"}, "cover": {"kind": "occlusion", "grid": 2}}
    changed = {"data": data, "paths": {"decaf": removal}, "stages": 9, "attributions": methods}
    changed |= {"score": {"kind": "target_logit", "classes": 2}, "sources_per_block": 4}
    changed["python_path"] = [*study["python_path"], str(tmp_path)]
    page = {"page": str(tmp_path / "report.html"), "paper": True}
    return study | changed | {"epsilon": 1e-7, "report": page}


@pytest.mark.slow
def test_methods_are_compared_under_held_out_operators(
    cells, write, decaf, prefect_server, tmp_path
):
    config, picture = write(cells), tmp_path / "maps.jpg"
    succeeded(decaf("run", config, **prefect_server))
    assert succeeded(decaf("check", "-w", tmp_path / "warehouse"))

    with connect(tmp_path / "warehouse") as warehouse:

        def ask(query):
            return warehouse.execute(query).fetchall()

        right = ask("SELECT model_id, image_id FROM core_predictions WHERE variant = 'image' "
                    "AND is_correct ORDER BY ALL")  # fmt: skip
        assert 0 < len(right) < 2 * COUNT
        supported = "SELECT model_id, image_id FROM core_attribution_support WHERE is_supported"
        assert ask(f"{supported} ORDER BY ALL") == right
        compared = ask("SELECT DISTINCT method, image_count FROM paper_attribution_comparison "
                       "WHERE model_id IS NULL AND protocol = 'held_out'")  # fmt: skip
        methods = {"decaf_3", "decaf_5", "decaf_9", "endpoint_m", "gradient", "cover"}
        assert dict(compared) == dict.fromkeys(methods, len(right))
        (deviation,) = ask(
            "SELECT count(*), max(abs(score - evidence)) FROM core_attribution_scores "
            "JOIN out_feature_evidence USING (study, model_id, image_id, feature) "
            "WHERE method = 'decaf_9' AND path = 'decaf'"
        )
        assert deviation == (2 * COUNT * 4, pytest.approx(0, abs=1e-12))
        targets = "SELECT operator, count(*) FROM core_attribution_targets GROUP BY operator"
        assert dict(ask(targets)) == dict.fromkeys(OPERATORS, 2 * COUNT * 4)
        rows = dict(ask("SELECT method, estimate FROM paper_attribution_compute "
                        "WHERE statistic = 'rows_per_image'"))  # fmt: skip
        assert rows == {"decaf_3": 15, "decaf_5": 25, "decaf_9": 45, "endpoint_m": 5} | {
            "gradient": 1,
            "cover": 5,
        }
    report = (tmp_path / "report.html").read_text()
    assert "held_out_cells:HeldOutCells" in report
    # An image, two targets, and of four methods two.
    succeeded(
        decaf("maps", config, picture, "--images", 3, "--method", "decaf_9", "--method", "cover")
    )
    with Image.open(picture) as drawn:
        assert drawn.size[0] == 6 + 5 * 166
    refused(decaf("maps", config, picture, "--method", "cove"), "unknown method", "'cover'")
    refused(decaf("maps", config, picture, "--model", "other"), "unknown model 'other'")
    refused(decaf("maps", config, tmp_path / "maps.pdf"), ".png")
    refused(decaf("maps", write(cells | {"study": "not_run"}, "new.yaml"), picture), "not_run")
