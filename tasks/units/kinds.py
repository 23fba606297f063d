"""All kinds of units, each after the kinds that it needs."""

from tasks.units.analyse import Analyse
from tasks.units.attribute import Attribute
from tasks.units.choose import Choose
from tasks.units.corrupt import Corrupt
from tasks.units.explain import Explain
from tasks.units.fit import Fit
from tasks.units.kind import Kind
from tasks.units.predict import Predict
from tasks.units.route import Route
from tasks.units.score import Score
from tasks.units.train import Train

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        *(Train(), Choose(), Fit()),
        *(Predict(), Score(), Route(), Corrupt(), Attribute(), Explain(), Analyse()),
    )
}
