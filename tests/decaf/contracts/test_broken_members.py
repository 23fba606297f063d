"""Members that break one contract each: what their authors are told."""

from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
import torch
from broken_paths import Rise
from broken_rules import OfItsOwn, OfNumpy, OfTheBatch, OneSided, Short
from pydantic import ConfigDict, Field

from decaf.contracts.base import COMMON, contracts_in, title
from decaf.contracts.checking import EXAMPLES_TITLE, check, check_free_name
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

    def attribute_batch(self, score, batch):
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


class Odd(Doubled):
    output = "odd"


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
    trusted_types: ClassVar = ()

    def fit(self):
        pass


class Seen(LabelSource):
    """Labels that are there already."""

    kind: Literal["seen"]
    case_kind: ClassVar = "source"
    cases: ClassVar = "my_units"


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
    return replace(Pairs.pair_set(self), construction=str(np.random.default_rng().random()))


def never_the_same_entry(self):
    return [Entry("e", str(np.random.default_rng().random()), "d", "p")]


def refuse(self, *given):
    raise DataError("nothing fits")


def too_early(self, block, inputs, grid):
    return Rise.reveal(self, block, inputs, grid * 0.5)


def too_late(self, block, inputs, grid):
    return Rise.reveal(self, block, inputs, 0.5 + grid * 0.5)


def with_paces(axis):
    """A path whose pace differs along an axis of (pairs, repetitions, stages, branches, words)."""

    def reveal(self, block, inputs, grid):
        revealed = Rise.reveal(self, block, inputs, grid)
        share = revealed.content.view(np.float64)
        return revealed._replace(content=(share ** (1 + np.indices(share.shape)[axis])).view("u8"))

    return changed(Rise, reveal=reveal)


SAME = Input("a", "a", "one", ""), Input("b", "b", "one", "")
ITSELF = (Pair("p", "s", "any", 0, "all", 0, 0),)
ASTRAY = (Pair("p", "s", "any", 0, "all", 0, 7),)
MASKED = pair_set_with(
    pairs=(Pair("p", "s", "any", 0, "all", 0, 0, feature=1),), masks=(SAME[0], SAME[0])
)
VIEWS = Path(__file__).parents[3] / "sql" / "out"
"""Queries of all studies."""
BARE = {"__annotations__": {"adapter": Literal["x"], "n": int}, "n": 3, "__doc__": "X."}
WORDS = iter("ab")
UNEXPLAINED = type(Sum)("X", (Sum,), {"__annotations__": {"n": int}, "n": Field(), "__doc__": "X."})


def masked(mask):
    """Images with these masks."""
    return changed(Pairs, pair_set=MASKED, read_mask=lambda self, _: mask)


def scored(values):
    """A sum whose values are changed."""
    return changed(Sum, values=lambda self, outputs, output: values(outputs))


def mapped(maps):
    return changed(Ones, attribute_batch=lambda self, score, batch: maps(batch.images))


def listed(*fields):
    return changed(Shelf, entries=lambda self: [Entry(*fields)])


def doubled_coalitions(self, players, source):
    return np.eye(players, dtype=bool)[[*range(players), *[0] * len(source)]]


BROKEN = {
    "is_documented": [changed(Pairs, __doc__=None), type(Pairs)("X", (Pairs,), BARE)],
    "is_frozen": [changed(Sum, model_config=ConfigDict(frozen=False))],
    "names_the_same_pairs_twice": [changed(Pairs, pair_set=never_the_same)],
    "points_at_its_images": [
        changed(Pairs, pair_set=pair_set_with(pairs=ASTRAY)),
        changed(Pairs, pair_set=pair_set_with(pairs=ITSELF)),
    ],
    "has_digests": [
        changed(Pairs, pair_set=pair_set_with(construction="")),
        changed(Pairs, pair_set=pair_set_with(inputs=SAME), read_input=image_by_name),
    ],
    "has_its_results": [
        changed(Pairs, results_folder=Path(__file__).with_name("nowhere")),
        changed(Pairs, results_folder=VIEWS),
    ],
    "passes_its_own_check": [changed(Pairs, verify=refuse)],
    "reads_every_input": [
        changed(Pairs, read_input=random_image),
        changed(Pairs, read_input=image_by_name),
        changed(Pairs, read_input=lambda self, image: [1]),
        changed(Pairs, read_input=lambda self, image: 1 / 0),
    ],
    "reads_every_mask": [
        masked(np.ones((4, 3), np.uint8)),
        masked(np.full((4, 4), 2, np.uint8)),
        masked(np.ones((4, 4))),
    ],
    "describes_its_pairs": [
        changed(Pairs, describe=lambda *_: 3),
        changed(Pairs, describe=lambda *_: next(WORDS)),
    ],
    "treats_both_inputs_alike": [with_paces(3)],
    "is_planned_as_it_is_made_one_by_one": [
        changed(Rise, start=OneSided()),
        changed(Rise, rule=OfTheBatch()),
    ],
    "is_the_same_in_torch": [changed(Rise, rule=OfNumpy())],
    "writes_what_it_returns": [changed(Rise, rule=OfItsOwn())],
    "makes_the_clean_input_of_full_content": [changed(Rise, rule=Short())],
    "ends_at_the_clean_inputs": [changed(Rise, reveal=too_early)],
    "starts_without_information": [changed(Rise, reveal=too_late)],
    "knows_a_pair_whatever_the_block": [with_paces(0)],
    "takes_some_kind_of_pairs": [changed(Rise, reveal=refuse)],
    "gives_one_row_of_float64_each": [scored(torch.Tensor.float), changed(Sum, values=refuse)],
    "keeps_its_bounds": [
        # Logits beyond a probability's bounds; bounds that hold for small outputs; the wrong order.
        changed(Sum, bounds=(0.0, 1.0)),
        changed(Sum, bounds=(-20.0, 20.0)),
        changed(Sum, bounds=(1.0, 0.0)),
    ],
    "scores_a_row_by_itself": [scored(lambda outputs: outputs.double() - outputs.mean())],
    "finds_the_column_of_a_pair": [changed(Sum, columns=lambda self, classes: classes + 5)],
    "has_an_identity": [changed(Sum, identity=lambda self: {"kind": "sum"})],
    "gives_numbers_of_the_expected_shape": [
        mapped(lambda images: images[0]),
        mapped(lambda images: images / 0),
        changed(Alone, coalitions=lambda self, players, source: np.eye(players)),
        changed(Alone, worth=lambda self, coalitions, values: values[0]),
        changed(Alone, is_complete=True),
    ],
    "attributes_the_same_twice": [mapped(torch.rand_like)],
    "counts_its_calls": [
        changed(Ones, forward_calls=7),
        changed(
            Alone,
            coalitions=doubled_coalitions,
            worth=lambda self, coalitions, values: values[: coalitions.shape[1]],
        ),
    ],
    "gives_every_component": [
        changed(Half, components=("a",), measure=Half._measure),
        changed(Half, _measure=lambda self, subject: {"score": Component(None, 0)}),
    ],
    "is_known_by_its_settings": [changed(Half, identity=property(lambda self: self.models))],
    "lists_the_same_twice": [changed(Shelf, entries=never_the_same_entry)],
    "knows_entries_by_digest": [listed("e", "1", "", "p")],
    "fetches_what_it_lists": [changed(Shelf, fetch=lambda *_: Fetched({"id": "x"}))],
    "is_known_by_digests": [changed(Constant, weights_digest=lambda _: None)],
    "answers_a_batch": [changed(Constant, load=lambda self, device: Odd())],
    "says_what_is_labelled": [changed(Seen, case_kind="photo"), changed(Seen, cases="a b")],
    "names_its_variants": [changed(Seen, variants=("one", "one"))],
    "says_what_its_file_is": [changed(Fit, suffix=".pkl")],
}
"""Members by the contract that they break."""


@pytest.mark.parametrize(
    "kind", [Pairs, Sum, Logit, Ones, Alone, Half, Shelf, Constant, Fit, Seen, Rise]
)
def test_what_keeps_every_contract_is_told_so(kind):
    assert [one for one in check(kind) if one.problem] == []


@pytest.mark.parametrize(
    ("contract", "kind"), [(name, kind) for name, kinds in BROKEN.items() for kind in kinds]
)
def test_a_contract_that_is_broken_is_named(contract, kind):
    own = import_module(f"decaf.contracts.{kind.place.name}")
    (promise,) = (title(one) for one in COMMON + contracts_in(own) if one.__name__ == contract)
    assert promise in [outcome.contract for outcome in check(kind) if outcome.problem]


def test_a_member_without_examples_cannot_be_tried():
    (outcome,) = check(UNEXPLAINED)
    assert (outcome.contract, "n: " in outcome.problem) == (EXAMPLES_TITLE, True)


def test_a_name_of_decafs_own_is_taken():
    kind = changed(Pairs)
    kind.__annotations__["adapter"] = Literal["shapes3d"]
    assert "decaf.studies.scenes.adapters" in check_free_name(kind).problem
    assert check_free_name(Pairs).problem is None
