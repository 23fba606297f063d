"""A small table with everything that tables have: numbers, gaps, truth values, text, categories."""

import numpy as np
import pandas as pd

JOBS = ["cook", "smith", "miner"]
JOB = pd.CategoricalDtype(JOBS)
INPUTS = ["age", "pay", "owner", "job", "town"]


def applicants(count=24):
    """Rows as they are in the file: the job is text there, some pay and some jobs are missing."""
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, count)
    pay = rng.normal(40, 5, count).round(2)
    pay[::5] = np.nan
    job = np.array(JOBS, object)[rng.integers(0, 3, count)]
    job[3::7] = None
    return pd.DataFrame(
        {
            "who": [f"p{n:02d}" for n in range(count)],
            "age": age,
            "pay": pay,
            "owner": rng.random(count) < 0.5,
            "job": job,
            "town": np.array(["Ulm", "Bonn"])[rng.integers(0, 2, count)],
            "house": [f"h{n // 2}" for n in range(count)],
            "hired": np.where(age + 10 * (job == "smith") > 42, "yes", "no"),
        }
    )


def written(folder, frame=None, name="applicants.csv"):
    """The file of a table, as a `data:` section names it."""
    path = folder / name
    (applicants() if frame is None else frame).to_csv(path, index=False)
    return str(path)


def section(folder, **changes):
    """`data:` of a study of the applicants."""
    given = {
        "adapter": "table_pairs",
        "table": written(folder),
        "id": "who",
        "label": "hired",
        "classes": ["no", "yes"],
        "source": "house",
        "categories": {"job": JOBS},
        "changes": {"smith": {"set": {"job": "smith"}}},
    }
    return {key: value for key, value in {**given, **changes}.items() if value is not None}
