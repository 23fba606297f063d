"""Photos that are compared with themselves, shifted, as a control."""

import numpy as np
from in_process import compute
from own_data import COLUMNS, rows_of_squares, write_table
from small_studies import of_scenes, untrained
from warehouse_answers import fetched

from decaf.plan.study import Study
from warehouse.commits.writer import open_root


def test_each_response_is_compared_with_that_to_a_shift(tmp_path):
    write_table(tmp_path / "pairs.csv", rows_of_squares(tmp_path, range(6)))
    data = {"adapter": "image_pairs", "pairs": str(tmp_path / "pairs.csv"), "columns": COLUMNS}
    data |= {"changes": {"shifted": {"shift": 2}}}
    models = [untrained(tmp_path, "net")]
    changed = {"data": data, "expect": {"shifted": "control"}, "epsilon": 0.001}
    study = Study.model_validate(of_scenes(tmp_path, models, **changed))
    open_root(study.warehouse)
    compute(study)
    rows = fetched(
        study.warehouse,
        "SELECT pair_type, source_count, control_response, difference FROM out_controls",
    )
    assert [(row[0], row[1]) for row in rows] == [("to grey", 6), ("to white", 6)]
    means = dict(
        fetched(
            study.warehouse,
            "SELECT pair_type, avg(abs_response) FROM core_profiles GROUP BY ALL",
        )
    )
    assert means["shifted"] > 0
    for pair_type, _, control_response, difference in rows:
        np.testing.assert_allclose(control_response, means["shifted"], rtol=1e-12)
        np.testing.assert_allclose(difference, means[pair_type] - means["shifted"], rtol=1e-9)
