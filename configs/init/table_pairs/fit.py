"""Make up 510 applicants for a loan, fit a pipeline on 500 of them and keep the other ten.

`decaf init` runs this file where scikit-learn is not the version that saved the pipeline.
"""

from zipfile import ZIP_DEFLATED

import numpy as np
import pandas as pd
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

rng = np.random.default_rng(0)
income = rng.normal(40, 9, 510).round()
people = pd.DataFrame(
    {
        "applicant": [f"a{number:02d}" for number in range(510)],
        "age": rng.integers(20, 65, 510),
        "income": income,
        "job": rng.choice(["clerk", "cook", "nurse"], 510),
        "owner": rng.random(510) < 0.4,
    }
)
chance = income - 40 + 8 * people["owner"] - 6 * (people["job"] == "cook") + rng.normal(size=510)
people["granted"] = np.where(chance > 0, "yes", "no")
people[:10].to_csv("applicants.csv", index=False)

others = people[10:]
columns = make_column_transformer(
    (StandardScaler(), ["age", "income"]),
    (OneHotEncoder(handle_unknown="ignore"), ["job"]),
    remainder="passthrough",
)
pipeline = make_pipeline(columns, LogisticRegression())
pipeline.fit(others[["age", "income", "job", "owner"]], others["granted"])
skops.io.dump(pipeline, "pipeline.skops", compression=ZIP_DEFLATED)
