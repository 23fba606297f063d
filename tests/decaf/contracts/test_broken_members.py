"""Members that break one contract each: what their authors are told."""

import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
import torch
from pydantic import ConfigDict, Field

from decaf.contracts.checking import check, has_a_free_name
from decaf.data.adapters.base import Adapter
from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import DataError
from decaf.evaluation.attributions.base import MapMethod
from decaf.evaluation.attributions.coalitions import CoalitionMethod
from decaf.evaluation.baselines.base import Baseline, Component
from decaf.evaluation.labels.base import LabelSource
from decaf.models.card import ModelCard
from decaf.models.recipes.base import EstimatorRecipe
from decaf.registry.entries import Entry, Fetched, Registry
from decaf.reveal.path import RevealPath
from decaf.reveal.paths.blend import Blend, Fade
from decaf.reveal.start import BlurredMidpoint
from decaf.scoring.scores.base import ClassScore, ScoreDefinition


class Pairs(Adapter):
    """Two black images."""

    adapter: Literal["pairs"]

    def pair_set(self):
        images = tuple(Input(name, name, name, "") for name in "ab")
        return PairSet(images, (Pair("p", "s", "any", 0, "all", 0, 1),), "black")

    def verify(self, pairs):
        pass

    def read_input(self, image):
        return np.zeros((4, 4, 3), np.uint8)


class Sum(ScoreDefinition):
    """The sum of all outputs."""

    kind: Literal["sum"]

    def values(self, outputs, output):
        return outputs.double().sum(dim=1, keepdim=True)

    def columns(self, class_id):
        return np.zeros_like(class_id)


class Logit(ClassScore):
    """A logit, tried with the examples of its base."""

    kind: Literal["logit"]

    def values(self, outputs, output):
        return outputs.double()


class Ones(MapMethod):
    """One everywhere."""

    access: ClassVar = "forward"
    kind: Literal["ones"] = "ones"

    @property
    def forward_calls(self):
        return 1

    def _maps(self, score, batch):
        score(batch.images, batch.columns)
        return torch.ones_like(batch.images[:, :1])


class Alone(CoalitionMethod):
    """What the image is worth that shows a feature alone."""

    kind: Literal["alone"] = "alone"

    def coalitions(self, players, source_id):
        return np.eye(players, dtype=bool)

    def worth(self, coalitions, values):
        return values


class Half(Baseline):
    """Always a half."""

    kind: Literal["half"]

    def _measure(self, subject):
        return {"score": Component(0.5, 1)}


class Shelf(Registry):
    """One entry."""

    kind: Literal["shelf"]

    def entries(self):
        return [Entry("one", "1", "digest", "place")]

    def fetch(self, entry, workspace):
        return Fetched({"source": "function"})


class Doubled:
    output, device = "value", torch.device("cpu")

    def outputs(self, inputs):
        return inputs.flatten(1).sum(dim=1)


class Constant(ModelCard):
    """Twice the sum."""

    source: Literal["constant"]
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"id": "one", "family": "any"},)
    origin: ClassVar = "constant"
    preprocessing_digest: ClassVar = "constant"

    def weights_digest(self):
        return "1"

    def load(self, device):
        return Doubled()


class Fit(EstimatorRecipe):
    """Nothing."""

    recipe: Literal["fit"]
    origin: ClassVar = "nothing"
    suffix: ClassVar = ".skops"
    trusted: ClassVar = ()

    def fit(self):
        pass


class Seen(LabelSource):
    """Labels that are there already."""

    kind: Literal["seen"]
    unit_kind: ClassVar = "source"
    units: ClassVar = "my_units"


@dataclass(frozen=True)
class Rise(RevealPath):
    """A fade from the mean."""

    kind: Literal["rise"] = "rise"
    start: ClassVar = BlurredMidpoint(0)
    rule: ClassVar = Fade()

    def reveal(self, block, inputs, grid):
        return Blend(sigma=0).reveal(block, inputs, grid)


def changed(base, **members):
    """A class derived from another, with other members."""
    plain = [name for name, value in members.items() if isinstance(value, str | int | tuple)]
    annotations = {base.place.tag: Literal["other"], **dict.fromkeys(plain, ClassVar)}
    given = {"__annotations__": annotations, "__doc__": "Another.", "__module__": __name__}
    if issubclass(base, RevealPath):
        given[base.place.tag] = "other"
        return dataclass(frozen=True)(type(base)(base.__name__, (base,), {**given, **members}))
    if base in (Ones, Alone):
        given[base.place.tag] = "other"
    return type(base)(base.__name__, (base,), {**given, **members})


def random_image(self, image):
    return np.random.default_rng().integers(0, 255, (4, 4, 3), np.uint8)


def image_by_name(self, image):
    return np.full((4, 4 + (image.image_id == "b"), 3), 1, np.uint8)


def pair_set_with(**fields):
    def pair_set(self):
        return replace(Pairs.pair_set(self), **fields)

    return pair_set


def never_the_same(self):
    return replace(Pairs.pair_set(self), geometry=str(np.random.default_rng().random()))


def refuse(self, *given):
    raise DataError("nothing fits")


class OneSided:
    of_pair = True

    def states(self, plus, minus, draw):
        return 0.5 * plus


class OfTheBatch(Fade):
    def states(self, start, clean, content, regions):
        return super().states(start, clean, content, regions) + 0.01 * len(clean)


class OfNumpy(Fade):
    def states(self, start, clean, content, regions):
        is_tensor = isinstance(clean, torch.Tensor)
        return super().states(start, clean, content, regions) + (0.1 if is_tensor else 0)


class OfItsOwn(Fade):
    def states(self, start, clean, content, regions):
        return super().states(start, clean, content, regions)

    def write(self, built, start, clean, content, regions):
        super().write(built, start, clean, content, regions)
        built += 1e-6


def too_early(self, block, inputs, grid):
    return Rise.reveal(self, block, inputs, grid * 0.5)


def too_late(self, block, inputs, grid):
    return Rise.reveal(self, block, inputs, 0.5 + grid * 0.5)


def by_position(self, block, inputs, grid):
    revealed = Rise.reveal(self, block, inputs, grid)
    content = revealed.content.copy().view(np.float64)
    content[:, :, 1:-1] /= np.arange(1, block.pair_count + 1).reshape(-1, 1, 1, 1, 1)
    return revealed._replace(content=content.view(np.uint64))


SAME = Input("a", "a", "one", ""), Input("b", "b", "one", "")
ITSELF = (Pair("p", "s", "any", 0, "all", 0, 0),)
ASTRAY = (Pair("p", "s", "any", 0, "all", 0, 7),)
MASKED = pair_set_with(
    pairs=(Pair("p", "s", "any", 0, "all", 0, 0, feature=1),), masks=(SAME[0], SAME[0])
)
BARE = {"__annotations__": {"adapter": Literal["x"], "n": int}, "n": 3, "__doc__": "X."}
WORDS = iter("ab")
BROKEN = {
    "no docstring": (changed(Pairs, __doc__=None), "has no docstring"),
    "bare settings": (type(Pairs)("X", (Pairs,), BARE), "settings without a description: n"),
    "can be changed": (changed(Sum, model_config=ConfigDict(frozen=False)), "can be changed"),
    "no example": (
        type(Sum)("X", (Sum,), {"__annotations__": {"n": int}, "n": Field(), "__doc__": "X."}),
        "n: Field required; write settings that can be tried",
    ),
    "random pairs": (changed(Pairs, pair_set=never_the_same), "gave other pairs"),
    "astray": (changed(Pairs, pair_set=pair_set_with(pairs=ASTRAY)), "outside of 0 to 1.*: p"),
    "itself": (changed(Pairs, pair_set=pair_set_with(pairs=ITSELF)), "image with itself: p"),
    "no geometry": (changed(Pairs, pair_set=pair_set_with(geometry="")), "'geometry' is empty"),
    "one digest": (
        changed(Pairs, pair_set=pair_set_with(inputs=SAME), read_input=image_by_name),
        "a have one digest and other content",
    ),
    "refused pairs": (changed(Pairs, verify=refuse), "it is refused: nothing fits"),
    "random image": (changed(Pairs, read_input=random_image), "a was read twice and differs"),
    "two shapes": (changed(Pairs, read_input=image_by_name), r"b is uint8 \(4, 5, 3\).*the first"),
    "no image": (changed(Pairs, read_input=lambda self, image: [1]), "returned list; expected an"),
    "error": (changed(Pairs, read_input=lambda self, image: 1 / 0), r"ZeroDivisionError: .*py:\d+"),
    "small mask": (
        changed(Pairs, pair_set=MASKED, read_mask=lambda self, mask: np.ones((4, 3), np.uint8)),
        r"the mask a is \(4, 3\), its image \(4, 4\)",
    ),
    "strange bit": (
        changed(Pairs, pair_set=MASKED, read_mask=lambda self, mask: np.full((4, 4), 2, np.uint8)),
        "the mask a has bit 1, that of feature 2; the pairs name features up to 1",
    ),
    "numbered mask": (
        changed(Pairs, pair_set=MASKED, read_mask=lambda self, mask: np.ones((4, 4))),
        "the mask a is float64",
    ),
    "one sided": (changed(Rise, start=OneSided()), "a start symmetrical"),
    "of the batch": (changed(Rise, rule=OfTheBatch()), "rows of a batch independent"),
    "numpy alone": (changed(Rise, rule=OfNumpy()), "states made by torch differ by 0.1"),
    "writes others": (changed(Rise, rule=OfItsOwn()), "writes other numbers than rule.states"),
    "no end": (changed(Rise, reveal=too_early), "last stage of branch 0 is not the clean"),
    "no start": (changed(Rise, reveal=too_late), "the branches differ at stage 0"),
    "by position": (changed(Rise, reveal=by_position), "draw by names of pairs"),
    "no pairs": (changed(Rise, reveal=refuse), "refuses every kind of pairs"),
    "float32": (
        changed(Sum, values=lambda self, outputs, output: outputs.float()),
        "returned torch.float32; expected float64",
    ),
    "mean over rows": (
        changed(Sum, values=lambda self, outputs, output: outputs.double() - outputs.mean()),
        "rows one by one differ",
    ),
    "no column": (changed(Sum, columns=lambda self, c: c + 5), r"the columns 0 to 0"),
    "no direction": (changed(Sum, identity=lambda self: {"kind": "sum"}), "for both directions"),
    "refuses outputs": (changed(Sum, values=refuse), "refuses all outputs"),
    "map of a row": (changed(Ones, _maps=lambda self, score, b: b.images[0]), "have shape"),
    "not finite": (changed(Ones, _maps=lambda self, s, b: b.images / 0), "are not finite"),
    "random maps": (
        changed(Ones, _maps=lambda self, s, b: torch.rand_like(b.images)),
        "differ when they are made again",
    ),
    "calls": (
        changed(Ones, forward_calls=7),
        "took 1 forward and 0 backward rows; forward_calls and backward_calls say 7 and 0",
    ),
    "numbered coalitions": (
        changed(Alone, coalitions=lambda self, players, source: np.eye(players)),
        r"gave float64 \(4, 4\); expected bool",
    ),
    "one score": (
        changed(Alone, worth=lambda self, coalitions, values: values[0]),
        r"worth\(\) gave shape \(\) for 4 features",
    ),
    "not complete": (changed(Alone, is_complete=True), "correct worth.*, or is_complete"),
    "as many coalitions": (
        changed(
            Alone,
            coalitions=lambda self, n, source: np.eye(n, dtype=bool)[
                [*range(n), *[0] * len(source)]
            ],
            worth=lambda self, coalitions, values: values[: coalitions.shape[1]],
        ),
        "took 5 forward and 0 backward rows; .* say 4 and 0",
    ),
    "components": (changed(Half, components=("a",), measure=Half._measure), r"gave \['score'\]"),
    "no reason": (
        changed(Half, _measure=lambda self, subject: {"score": Component(None, 0)}),
        "neither a score nor a reason",
    ),
    "words": (changed(Pairs, describe=lambda *_: 3), "a str"),
    "other words": (
        changed(Pairs, describe=lambda *_: next(WORDS)),
        "something else the second time",
    ),
    "identity": (changed(Half, identity=property(lambda self: self.models)), "depends on 'models'"),
    "entries": (
        changed(Shelf, entries=lambda self: [Entry("e", str(np.random.rand()), "d", "p")]),  # noqa: NPY002
        "gave others, or another order",
    ),
    "no digest": (changed(Shelf, entries=lambda self: [Entry("e", "1", "", "p")]), "has no digest"),
    "an id": (changed(Shelf, fetch=lambda *_: Fetched({"id": "x"})), "the card has an 'id'"),
    "weights": (changed(Constant, weights_digest=lambda _: None), r"weights_digest\(\) is None"),
    "output": (
        changed(Constant, load=lambda self, *given: type("M", (Doubled,), {"output": "odd"})()),
        "'output' is 'odd'; expected one of logits, probabilities, value",
    ),
    "kind of units": (changed(Seen, unit_kind="photo"), "unit_kind is 'photo'; expected 'source'"),
    "view of units": (changed(Seen, units="a b"), "units is 'a b'; expected the name of the view"),
    "variants": (changed(Seen, variants=("one", "one")), "name something twice"),
    "suffix": (changed(Fit, suffix=".pkl"), r"suffix is '\.pkl'; expected one of \.skops"),
}


@pytest.mark.parametrize(
    "kind", [Pairs, Sum, Logit, Ones, Alone, Half, Shelf, Constant, Fit, Seen, Rise]
)
def test_what_keeps_every_contract_is_told_so(kind):
    assert [one for one in check(kind) if one.problem] == []


@pytest.mark.parametrize("name", BROKEN)
def test_what_breaks_a_contract_is_told(name):
    kind, message = BROKEN[name]
    problems = [one.problem for one in check(kind) if one.problem]
    assert any(re.search(message, problem) for problem in problems), problems


def test_a_name_of_decafs_own_is_taken():
    kind = changed(Pairs)
    kind.__annotations__["adapter"] = Literal["shapes3d"]
    assert "by decaf itself (decaf.studies.scenes.adapters)" in has_a_free_name(kind).problem
    assert has_a_free_name(Pairs).problem is None
