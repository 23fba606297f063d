"""Scores of clean inputs that a study gives, computed in this process."""

import in_process
import yaml
from warehouse_answers import fetched

from decaf.plan.study import load_study

CLEAN = "SELECT model_id, pair_id, q_plus[-1], q_minus[-1] FROM core_trajectories ORDER BY ALL"


def clean_scores(folder, settings):
    """Scores of both inputs by model and pair, once the study is computed in a folder."""
    file = folder / "clean_scores.yaml"
    file.write_text(yaml.safe_dump(settings))
    study = load_study(file)
    in_process.compute(study)
    rows = fetched(study.warehouse, CLEAN)
    return {(model, pair): (plus, minus) for model, pair, plus, minus in rows}
