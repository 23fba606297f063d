"""Pairs without true classes: nothing is right or wrong of what is predicted of them."""

import pytest
from random_audit import rows_of
from test_pair_weights import weighed

ASKED = "WITH asked AS (FROM core_entry_versions WHERE is_newest AND against = 'previous')"


def predicted(class_id):
    """The two runs with predictions of two clean images of one pair, which are of a class."""
    audit = weighed()
    for pair in audit["stg_pairs"]:
        pair |= {"class_id": class_id}
        for side in ("plus", "minus"):
            pair |= {f"{side}_image": f"{side} of {pair['pair_id']}", f"{side}_variant": side}
    audit["stg_run_units"] += [
        {"study": "s", "run_id": run, "unit_key": model, "kind": "predict", "name": ""}
        | {"model_id": model, "block": 0}
        for run, model in (("r", "m"), ("later", "m"), ("later", "n"))
    ]
    audit["stg_predictions"] = [
        {"study": "s", "model_id": model, "unit_key": model, "class_scores": [0.25, 0.75]}
        | {"predicted_class": 1, "image_id": f"{side} of {pair['pair_id']}"}
        for model in ("m", "n")
        for pair in audit["stg_pairs"]
        for side in ("plus", "minus")
    ]
    return audit


@pytest.mark.parametrize(("class_id", "accuracy", "rows"), [(1, 1, 2), (0, 0, 2), (None, None, 0)])
def test_accuracy_is_measured_against_labels_alone(class_id, accuracy, rows, catalogue):
    connection = catalogue(predicted(class_id))
    found = {row["accuracy"] for row in rows_of(connection.table("out_accuracy"))}
    assert found == {accuracy}
    drift = f"{ASKED} SELECT value, value_before FROM drift_of('asked', 9, 1, [0.9]) WHERE "
    assert (
        connection.sql(drift + "g.metric = 'accuracy'").fetchall() == [(accuracy, accuracy)] * rows
    )
    history = "SELECT count(*) FROM out_history WHERE metric = 'accuracy'"
    assert connection.sql(history).fetchall() == [(2 * rows,)]
    assert connection.sql(drift + "g.metric = 'evidence'").fetchall()
    warned = "SELECT count(*) FROM out_warnings WHERE warning = 'below_chance'"
    assert connection.sql(warned).fetchall() == [(0,)]  # one label of two classes
