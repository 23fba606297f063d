"""Move one measurement of a table, and see how its classifiers react.

    python examples/tabular.py FOLDER

Two classifiers of the same tumours are about equally accurate. We move one measurement of every
tumour by one standard deviation, and ask how much of the reaction on the way there agrees with
where it ends (evidence), opposes it (contradiction), or ends nowhere (fragility).
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import decaf

MOVED = "worst texture"


def main(folder: Path) -> None:
    """Fit two classifiers, audit both, write the charts."""
    data = load_breast_cancer()
    x, x_test, y, y_test = train_test_split(data.data, data.target, random_state=0)
    column = list(data.feature_names).index(MOVED)
    moved = x_test.copy()
    moved[:, column] += x[:, column].std()

    models = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "forest": RandomForestClassifier(50, random_state=0),
    }
    for name, model in models.items():
        model.fit(x, y)
        print(f"\n{name}: {model.score(x_test, y_test):.0%} of held-out tumours right")
        # Any function from rows to scores will do. Rows have no blur: the path is the straight
        # line from the midpoint of each pair, and q is column 1, the probability of "benign".
        audited = decaf.audit(model.predict_proba, x_test, moved, target=1)
        print(audited.summary())

        # The threshold below which an effect counts as none is a choice: try another, for free.
        strict = audited.at(0.1)
        print(f"with epsilon 0.1, {strict.profiles.is_endpoint_active.mean():.0%} are active")

        largest = int(np.argmax(audited.profiles.contradiction + audited.profiles.fragility))
        audited.plot(largest).save(folder / f"tabular-{name}.html", inline=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
