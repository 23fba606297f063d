"""Estimated memory of a worker, computed by hand."""

from types import SimpleNamespace

import pytest
import torch
from small_studies import network_card, of_scenes

from decaf.plan.cluster import LocalWorkers, SchedulerAddress
from decaf.plan.study import Study
from decaf.scoring import footprint
from decaf.scoring.scores.class_probability import ClassProbability
from tasks.memory import Footprint, Need, fitting_rows, needs

MODEL = Footprint(
    *("net", False),
    held=1000,
    peak=1100,
    per_row=10,
    per_input=5,
    per_conversion=4,
    per_locked=0,
    rows=6,
)


def scored(tmp_path, **settings):
    study = Study(
        **of_scenes(tmp_path, [network_card("net", weights="net.safetensors")], **settings)
    )
    return study, study.pair_set()


def outputs(inputs):
    doubled = torch.cat([inputs, inputs], dim=1)  # two inputs
    return doubled[:, :3] * 1  # and three values


@pytest.mark.parametrize("tells", [True, False])
def test_a_row_takes_its_input_and_what_lives_at_once(monkeypatch, tells):
    if not tells:  # as on systems that are no Linux
        monkeypatch.setattr(footprint, "_forgets_peak", lambda: False)
    model = SimpleNamespace(outputs=outputs, output="logits", device=torch.device("cpu"))
    score = ClassProbability(kind="class_probability", classes=3)
    size = 2**20
    taken = footprint.bytes_per_row(model, score, torch.zeros(1, size))
    assert taken == pytest.approx(4 * 3 * size, rel=0.2 if tells else 1e-3)


def test_the_largest_batch_and_the_inputs_of_a_block_are_counted(tmp_path):
    study, pairs = scored(tmp_path, batch_size=6)
    (need,) = needs(study, pairs, [MODEL])
    block = max(study.blocks(pairs), key=len)
    inputs = len({position for row in block for position in pairs.pairs[row].positions})
    assert (need.rows, need.batch, need.inputs) == (6, 60, 5 * inputs)
    assert need.total == max(1100, 1000 + 5 * inputs + max(60, 4 * inputs))
    # The host of a GPU has the inputs of the block.
    (on_gpu,) = needs(study, pairs, [MODEL._replace(is_on_gpu=True, per_locked=3)])
    assert (need.locked, on_gpu.locked) == (0, 3 * inputs)


@pytest.mark.parametrize(("free", "rows"), [(2000, None), (1960, 6), (1800, 0)])
def test_a_batch_that_fits_is_named_where_workers_have_no_room(free, rows):
    need = Need("net", False, 8, held=800, inputs=100, batch=100, total=1000, per_row=10, locked=0)
    assert fitting_rows(need, LocalWorkers(workers=2), free) == rows


def test_room_of_a_gpu_or_of_other_machines_is_not_judged_here():
    need = Need("net", True, 8, held=800, inputs=100, batch=100, total=1000, per_row=10, locked=0)
    assert fitting_rows(need, LocalWorkers(), 0) is None
    elsewhere = SchedulerAddress(kind="address", address="tcp://127.0.0.1:1")
    assert fitting_rows(need._replace(is_on_gpu=False), elsewhere, 0) is None
