"""Write results of a re-audit to an MLflow server: tags of versions, and runs with metrics."""

import re
import time
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field

from decaf.foundation.addresses import Address
from decaf.foundation.digests import json_sha256
from decaf.foundation.number_text import score_text
from decaf.foundation.settings import LONGEST_WAIT, Settings, ShownName
from decaf.registry.entries import VersionResult
from decaf.registry.mlflow_client import AnswerFields, MlflowServer, Read

NOT_OF_A_KEY = re.compile(r"[^A-Za-z0-9_. :/-]")
"""Letters that MLflow refuses in names of tags and metrics."""
LONGEST_KEY = 200
LONGEST_VALUE = 5000
METRICS_AT_ONCE = 1000
REAUDIT, ENTRY = "decaf.reaudit", "decaf.entry"
"""Tags by which a run is found again."""


class Nothing(AnswerFields):
    """An empty answer: the request succeeded."""


class Experiment(AnswerFields):
    """An experiment, by its number."""

    experiment_id: str


class Experiments(AnswerFields):
    """Answer of ``experiments/search``."""

    experiments: list[Experiment] = []


class RunInfo(AnswerFields):
    """A run, by its number."""

    run_id: str


class Run(AnswerFields):
    """A run as MLflow describes it."""

    info: RunInfo


class OneRun(AnswerFields):
    """Answer of ``runs/create``."""

    run: Run


class Runs(AnswerFields):
    """Answer of ``runs/search``."""

    runs: list[Run] = []


class WriteBack(Settings):
    """Tags of each audited version, and a run with its metrics, in a separate experiment.

    `decaf.verdict`, `decaf.failed_gates`, `decaf.accepted`, `decaf.endpoint_magnitude`,
    `decaf.evidence`, `decaf.contradiction`, `decaf.fragility` (as `0.123 [0.110, 0.135]`),
    `decaf.report` and `decaf.reaudit`; `decaf.evidence.PATH.PAIR_TYPE` if several are audited.
    """

    experiment: ShownName = Field("decaf", description="experiment for the runs")
    report: Address | None = Field(
        None,
        description="address of the report; when absent, `report_url` of `alerts:`, else the "
        "report's file",
    )
    retries: int = Field(
        4, ge=0, le=1000, description="further attempts of each request, as of a webhook"
    )
    backoff_seconds: float = Field(
        0.5, ge=0, le=LONGEST_WAIT, description="pause before the first of them, s"
    )

    def write(
        self, server: MlflowServer, reaudit_id: str, report: str, results: Sequence[VersionResult]
    ) -> None:
        """Write all results; results of an earlier try are overwritten with equal values.

        Raises RegistryError when the server does not take it.
        """
        if not results:
            return
        experiment = self._experiment(server)
        for result in results:
            tags = {"reaudit": reaudit_id, "report": self.report or report}
            tags |= {
                column: _format_interval(*interval) for column, interval in result.values.items()
            }
            self._tag(server, result, tags | result.answer._asdict())
            self._log(server, experiment, result, reaudit_id)

    def write_answers(self, server: MlflowServer, results: Sequence[VersionResult]) -> None:
        """Write the tags that an acceptance changes.

        Raises RegistryError when the server does not take it.
        """
        for result in results:
            self._tag(server, result, result.answer._asdict())

    def _tag(self, server: MlflowServer, result: VersionResult, said: dict[str, str]) -> None:
        """Set tags of a version; an empty value deletes the tag of an earlier verdict."""
        version = {"name": result.name, "version": result.version}
        for key, value in said.items():
            tag = version | {"key": _key(f"decaf.{key}")}
            if value:
                tag["value"] = value[:LONGEST_VALUE]
                self._ask(server, "model-versions/set-tag", Nothing, **tag)
            else:
                waits = self.retries, self.backoff_seconds
                server.ask("model-versions/delete-tag", Nothing, tag, *waits, method="DELETE")

    def _log(
        self, server: MlflowServer, experiment: str, result: VersionResult, reaudit_id: str
    ) -> None:
        """Log metrics to the run of this re-audit and version, which is made unless it is there."""
        tags = {REAUDIT: reaudit_id, ENTRY: json_sha256([result.name, result.version])[:32]}
        filter_text = " and ".join(f"tags.`{key}` = '{value}'" for key, value in tags.items())
        query = {"experiment_ids": [experiment], "filter": filter_text, "max_results": 1}
        runs, now = self._ask(server, "runs/search", Runs, **query).runs, int(time.time() * 1000)
        if not runs:
            run_fields = {"experiment_id": experiment, "start_time": now}
            run_fields["run_name"] = f"{result.name} version {result.version}"
            run_fields["tags"] = [{"key": key, "value": value} for key, value in tags.items()]
            runs = [self._ask(server, "runs/create", OneRun, **run_fields).run]
        run = {"run_id": runs[0].info.run_id}
        # Equal metrics of one moment are one: a batch that is sent again changes nothing.
        at = {"timestamp": 0, "step": 0}
        metrics = [{"key": key, "value": value, **at} for key, value in _numbers(result)]
        for first in range(0, len(metrics), METRICS_AT_ONCE):
            batch = metrics[first : first + METRICS_AT_ONCE]
            self._ask(server, "runs/log-batch", Nothing, **run, metrics=batch)
        self._ask(server, "runs/update", Nothing, **run, status="FINISHED", end_time=now)

    def _experiment(self, server: MlflowServer) -> str:
        quoted = self.experiment.replace("'", "\\'")
        query = {"filter": f"name = '{quoted}'", "max_results": 1}
        experiments = self._ask(server, "experiments/search", Experiments, **query).experiments
        if not experiments:
            experiments = [
                self._ask(server, "experiments/create", Experiment, name=self.experiment)
            ]
        return experiments[0].experiment_id

    def _ask(self, server: MlflowServer, what: str, kind: type[Read], **asked: Any) -> Read:
        return server.ask(what, kind, asked, self.retries, self.backoff_seconds)


def _numbers(result: VersionResult) -> Iterator[tuple[str, float]]:
    for column, (value, *limits) in result.values.items():
        yield _key(column), value
        for side, limit in zip(("lower", "upper"), limits, strict=True):
            if limit is not None:
                yield _key(f"{column}.{side}"), limit


def _format_interval(value: float, lower: float | None, upper: float | None) -> str:
    """As `0.123 [0.110, 0.135]`."""
    if lower is None or upper is None:
        return score_text(value)
    return f"{score_text(value)} [{score_text(lower)}, {score_text(upper)}]"


def _key(text: str) -> str:
    """A name that MLflow accepts; a changed name ends in digits of its digest."""
    if len(text) <= LONGEST_KEY and not NOT_OF_A_KEY.search(text):
        return text
    return f"{NOT_OF_A_KEY.sub('_', text)[:LONGEST_KEY]}-{json_sha256(text)[:8]}"
