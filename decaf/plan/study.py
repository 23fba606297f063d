"""Configuration of an audit, read from one YAML file."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from decaf.data.adapters.base import Adapter
from decaf.data.block_order import drawn_blocks
from decaf.data.class_ids import CLASS_NAMES
from decaf.data.class_maps import official_file
from decaf.data.pairs import InputSet, PairSet, Rows
from decaf.data.row_names import refuse_similar_types
from decaf.errors import DataError, ResponseError, SettingError, abridge, suggestion
from decaf.evaluation.attributions.base import AttributionMethod
from decaf.evaluation.baselines import base as baselines_base
from decaf.evaluation.labels.base import LabelSource
from decaf.foundation.callables import import_from
from decaf.foundation.plugins import OneOf
from decaf.foundation.settings import PATH_LIMITS, FolderBesideFile, Settings, fault, is_too_long
from decaf.foundation.third_party import code_of
from decaf.foundation.yaml_source import Origin, Overrides, Source, load
from decaf.models.card import ModelCard
from decaf.plan.class_names import check_labels, match_classes, target_number
from decaf.plan.cluster import Cluster
from decaf.plan.expectations import Expectation
from decaf.plan.limits import check_limits
from decaf.plan.methods import check_baselines, check_gradients
from decaf.plan.missing_marks import drop_stated_marks
from decaf.plan.presentation import DisplayName, Report, check_shown
from decaf.plan.refining import check_rules, start_grid
from decaf.plan.shared_keys import with_keys_of_data
from decaf.plan.stopping import Stop, check_stop
from decaf.registry import entries as registry_base
from decaf.registry.alerts import Alerts
from decaf.registry.gates import METRICS, Gates
from decaf.reveal import path as reveal_base
from decaf.reveal.refinement import Stages
from decaf.routing.route import DEFAULT_EPSILON
from decaf.scoring.scores.base import ScoreDefinition

Data = Annotated[Adapter, OneOf(Adapter)]
Card = Annotated[ModelCard, OneOf(ModelCard, default="network")]
Registry = Annotated[registry_base.Registry, OneOf(registry_base.Registry)]
Score = Annotated[ScoreDefinition, OneOf(ScoreDefinition)]
RevealPath = Annotated[reveal_base.RevealPath, OneOf(reveal_base.RevealPath)]
Attribution = Annotated[AttributionMethod, OneOf(AttributionMethod)]
Baseline = Annotated[baselines_base.Baseline, OneOf(baselines_base.Baseline)]
Labels = Annotated[LabelSource, OneOf(LabelSource)]
FORMER_KEYS = {
    "behaviours": "is now 'labels: {kind: behaviours}'",
    "models_per_worker": "is gone, since a worker scores one model at a time; leave it out",
    "sources_per_shard": "is now 'sources_per_block'",
}
"""Former keys of a study, with their replacements."""
Inputs = TypeVar("Inputs", PairSet, InputSet)
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=60)]


class Study(Settings):
    """Configuration of an audit: its data, models, score, paths, workers and folders."""

    study: Name = Field(description="name of the study, in the names of its rows and folders")
    # Before the sections: one of them may name a class in one of these folders.
    python_path: tuple[FolderBesideFile, ...] = Field(
        (), description="folders of the user's own modules; relative ones start from this file"
    )
    data: Data = Field(description="data set that gives the pairs")
    models: tuple[Card, ...] = Field(
        (), description="models to audit; at least one unless there is a `registry`"
    )
    registry: Registry | None = Field(
        None, description="registry of further models, for `decaf reaudit`"
    )
    gates: dict[str, Gates] = Field(
        {},
        description="limits on metrics of changed models of the registry: by metric, such as "
        "`fragility`, a limit or a list of limits",
    )
    compare_with: Name = Field(
        "last_passed",
        description="version that gates compare with: `last_passed` (the last that passed or was "
        "accepted), `previous` (the last that was audited, whether it passed or failed), or an "
        "alias in `follow:`, such as `champion`",
    )
    undecided: Literal["pass"] | None = Field(
        None,
        description="`pass`: exit code 0 instead of 4 if gates are undecided or none applies",
    )
    alerts: Alerts = Field(Alerts(), description="receivers of alerts for failed gates and models")
    score: Score = Field(description="definition of the score q")
    paths: dict[Name, RevealPath] = Field(min_length=1, description="reveal paths by name")
    labels: Labels | None = Field(
        None, description="true roles of models, or of a model on each source, to judge E, C and F"
    )
    attributions: dict[Name, Attribution] = Field(
        {}, description="spatial attribution methods for comparison, by name"
    )
    baselines: dict[Name, Baseline] = Field(
        {},
        description="methods to compare with decaf on tables with a factor and a context, by name",
    )
    stages: Stages = Field(
        9,
        description="number of evenly spaced stages, the stages themselves from 0 to 1, or a rule "
        "that doubles them, as `{until: 0.005, at_most: 65}`",
    )
    epsilon: float = Field(
        DEFAULT_EPSILON,
        gt=0,
        le=1e9,
        description="threshold of |d|; responses of pairs below it are fragility",
    )
    quarantine: float = Field(
        0.01,
        ge=0,
        le=1,
        description="largest share of a model's trajectories with a score that is not finite; a "
        "model with a larger share, or without other trajectories, fails",
    )
    sources_per_block: int | None = Field(
        None,
        gt=0,
        le=10_000_000,
        description="sources (scenes, rows) that are scored and committed together; by default "
        "chosen from the cost of a row, and kept by later runs of the study",
    )
    stop: Stop | None = Field(None, description="rule that stops scoring early; none by default")
    batch_size: int | None = Field(
        None,
        gt=0,
        le=1_000_000,
        description="rows of a forward pass; by default chosen for each model; halved if memory "
        "does not suffice",
    )
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="where models run")
    cluster: Cluster | None = Field(None, description="workers; by default chosen for the machine")
    workspace: Path = Field(
        Path("runs/workspace"), description="folder for clean inputs and trained checkpoints"
    )
    warehouse: str = Field(
        "runs/warehouse",
        min_length=1,
        description="root of the result warehouse: a folder or a URL such as `s3://bucket/prefix`",
    )
    expect: dict[str, Expectation] = Field(
        {}, description="expected effect of each pair type on the score: a word or a limit"
    )
    names: dict[str, DisplayName] = Field(
        {}, description="display names of pair types, paths, models"
    )
    report: Report = Field(Report(), description="path of the HTML page, or a section")

    _origin: Origin = PrivateAttr(Origin())

    @model_validator(mode="before")
    @classmethod
    def _share_keys_of_data(cls, fields: Any) -> Any:
        """Copy keys of ``data:`` to recipes that have the same key and do not set it."""
        data, models = (fields.get(name) for name in ("data", "models"))
        if not isinstance(data, dict) or not isinstance(models, list | tuple):
            return fields
        return fields | {"models": with_keys_of_data(models, data)}

    @model_validator(mode="before")
    @classmethod
    def _refuse_former_keys(cls, fields: Any) -> Any:
        """Refuse a former key of a study, and name its replacement."""
        for key, advice in FORMER_KEYS.items():
            if isinstance(fields, dict) and key in fields:
                raise fault(f"'{key}' {advice}", key)
        return fields

    @field_validator("python_path")
    @classmethod
    def _import_folders(cls, folders: tuple[Path, ...]) -> tuple[Path, ...]:
        import_from(folders)
        return folders

    @field_validator("score", mode="before")
    @classmethod
    def _use_class_map_of_data(cls, score: Any, info: ValidationInfo) -> Any:
        """If the data folder has the shipped class map that a score names, use that file."""
        root = getattr(info.data.get("data"), "root", None)
        if not isinstance(root, Path) or not isinstance(score, dict):
            return score
        file = official_file(str(score.get("class_map")), root)
        return score if file is None else score | {"class_map": file}

    @field_validator("score", mode="before")
    @classmethod
    def _replace_target_name(cls, score: Any, info: ValidationInfo) -> Any:
        """Replace a class name in ``target`` by the number of its output."""
        target = score.get("target") if isinstance(score, dict) else None
        if not isinstance(target, str) or target.isdecimal():
            return score
        data, models = info.data.get("data"), info.data.get("models", ())
        return score | {"target": target_number(target, data, score, models)}

    @field_validator("warehouse")
    @classmethod
    def _check_length(cls, place: str) -> str:
        if is_too_long(place):
            raise fault(f"it has {len(os.fsencode(place))} bytes; expected {PATH_LIMITS}")
        return place

    @field_validator("models")
    @classmethod
    def _check_ids(cls, models: tuple[Card, ...]) -> tuple[Card, ...]:
        ids = [card.id for card in models]
        # Some file systems ignore the difference between capital and small letters.
        plain = [name.casefold() for name in ids]
        twice = [name for name in ids if plain.count(name.casefold()) > 1]
        if twice:
            raise fault(
                f"model ids are equal, or differ only in capitals: {abridge(sorted(twice))}; "
                "rename one"
            )
        return models

    @field_validator("gates", mode="before")
    @classmethod
    def _check_gate_columns(cls, gates: Any) -> Any:
        for name in gates if isinstance(gates, dict) else ():
            if name not in METRICS:
                hint = suggestion(str(name), METRICS)
                raise fault(f"a gate limits the unknown metric '{name}'{hint}", str(name))
        return gates

    @model_validator(mode="after")
    def _check_models(self) -> "Study":
        if not self.models and self.registry is None:
            raise fault("give 'models' (a list of cards), 'registry', or both")
        for key in ("gates", "compare_with", "undecided", "alerts"):
            if key in self.model_fields_set and self.registry is None:
                raise fault(f"'{key}' needs a 'registry': add one, or leave '{key}' out", key)
        registry_base.check_comparison(self.registry, self.compare_with)
        return self

    @model_validator(mode="after")
    def _check_recipes(self) -> "Study":
        """Refuse recipes that have another value of a key that they share with the data."""
        for key, consequence in self.data.shared_with_recipes.items():
            audited = getattr(self.data, key)
            for card in self.models:
                value = getattr(getattr(card, "training", None), key, audited)
                if value != audited:
                    raise fault(
                        f"model {card.id}: '{key}:' of 'training:' is {value}, and that of 'data:' "
                        f"is {audited}, {consequence}; give both the same value"
                    )
        return self

    @model_validator(mode="after")
    def _check_methods(self) -> "Study":
        check_gradients(self.attributions, self.models)
        if self.registry is None:  # models of a registry are not known yet
            check_baselines(self.baselines, self.models)
        return self

    @model_validator(mode="after")
    def _check_limits(self) -> "Study":
        check_limits(self.score, self.epsilon, self.expect, self.gates)
        return self

    @model_validator(mode="after")
    def _check_stop(self) -> "Study":
        if self.stop:
            whole = [key for key in ("labels", "baselines") if getattr(self, key)]
            check_stop(self.stop, self.score, has_gates=bool(self.gates), whole=whole)
        check_rules(self.paths, self.stages, can_stop=self.stop is not None)
        return self

    @field_validator("stages")
    @classmethod
    def _check_grid(cls, stages: Stages) -> Stages:
        try:
            start_grid(stages)
        except ResponseError as error:
            raise fault(str(error)) from error
        return stages

    @property
    def grid(self) -> NDArray[np.float64]:
        """(n_stages,) stages from 0 to 1 of paths that set no stages."""
        return start_grid(self.stages)

    @property
    def plugin_sections(self) -> list[Settings | reveal_base.RevealPath]:
        """Sections that plug-in classes define, built-in or third-party."""
        recipes = [getattr(card, "training", None) for card in self.models]
        sections = [
            *(self.data, self.registry, self.score, self.labels),
            *(*self.paths.values(), *self.models, *recipes),
            *(*self.attributions.values(), *self.baselines.values()),
            *(method.own_score for method in self.attributions.values()),
        ]
        return [section for section in sections if section is not None]

    def pair_set(self) -> PairSet:
        """Pairs of the study; their ``construction`` includes a digest of third-party adapter code.

        Raises BadInput when files are missing, or settings and data do not fit each other, such as
        a score that needs labels and data that have none.
        """
        try:
            pairs = drop_stated_marks(self.data.pair_set(), self.models)
            pairs = match_classes(pairs, self.data, self.score, self.models, self.registry)
        except SettingError as error:
            raise self._origin.locate(error, "data") from error.__cause__
        self._check_classes(pairs)
        refuse_similar_types(pairs)
        types = sorted(pairs.pairs.pair_types.values)
        try:
            check_labels(pairs, self.score, "score")
            for name, method in self.attributions.items():
                if method.own_score:
                    check_labels(pairs, method.own_score, "attributions", name, "own_score")
            models = [card.id for card in self.models]
            check_shown(self.expect, self.names, types, self.paths, models)
        except SettingError as error:
            raise self._origin.locate(error) from None
        if self.sources_per_block:
            self.check_span(pairs)
        return self._with_code_digest(pairs)

    def check_span(self, pairs: PairSet) -> None:
        """Raise ConfigError for a `stop:` that asks for more blocks than the study has."""
        try:
            if self.stop:
                self.stop.span(len(self.blocks(pairs)))
        except SettingError as error:
            raise self._origin.locate(error) from None

    def blocks(self, pairs: PairSet) -> list[Rows]:
        """Rows of the pairs of each block; with `stop:`, blocks come in a drawn order.

        The number of sources in a block must be set or chosen (:mod:`tasks.sizes`).
        """
        assert self.sources_per_block is not None
        if (stop := self.stop) is None:
            return pairs.blocks(self.sources_per_block)
        return drawn_blocks(pairs, self.sources_per_block, stop.seed, by_class=stop.by_class)

    def to_the_end(self) -> "Study":
        """The same study, with every pair scored; blocks stay in the order that was drawn."""
        return self.model_copy(update={"stop": self.stop and self.stop.to_the_end()})

    def _check_classes(self, pairs: PairSet) -> None:
        """Raise DataError if a label is a class that the score does not have."""
        for class_id in np.unique(pairs.pairs.class_ids):
            try:
                self.score.columns(np.array([class_id]))
            except DataError as error:
                pair = pairs.pairs[np.flatnonzero(pairs.pairs.class_ids == class_id)[-1]]
                names = [remark for remark in pairs.remarks if remark.startswith(CLASS_NAMES)]
                problem = "; ".join([f"the label of pair {pair.pair_id!r}: {error}", *names])
                raise DataError(problem) from error

    def foregrounds(self, pairs: PairSet) -> InputSet | None:
        """Further images that the labels need; None when they need none.

        Raises DataError when the data set cannot give them.
        """
        images = self.labels.foregrounds(self.data, pairs) if self.labels else None
        return self._with_code_digest(images) if images else None

    def _with_code_digest(self, inputs: Inputs) -> Inputs:
        code = "".join(code_of(self.data).values())
        return replace(inputs, construction=f"{inputs.construction} by {code}") if code else inputs

    @property
    def report_file(self) -> Path | None:
        """Path of the report; None if the study has no report."""
        if self.report.page is False:
            return None
        return self.report.page or Path("runs") / f"{self.study}.html"

    @property
    def worker_log(self) -> Path:
        """Log file of the output of this machine's workers."""
        return self.workspace.absolute() / "prints" / f"{self.study}.log"


def load_study(source: Source, overrides: Overrides = ()) -> Study:
    """Read a study from its file or from its content, and make its ``python_path`` importable.

    Raises ConfigError with file, line and key of everything that is wrong.
    """
    study = load(source, Study, overrides)
    study._origin = Origin(source, overrides)
    return study
