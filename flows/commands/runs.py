"""Begin ``decaf run``: load the study, and start its workers beside the import of what follows."""

from collections.abc import Sequence

from rich.console import Console

from decaf.foundation.yaml_source import Overrides, Source
from decaf.plan.study import load_study
from tasks.cluster import fork_server


def run(
    console: Console,
    config: Source,
    force: Sequence[str],
    overrides: Overrides = (),
    *,
    is_whole: bool = False,
) -> None:
    """Carry out what is left of a study, and print its results (:func:`audits.audit`).

    Units whose names match a pattern of ``force`` (:func:`tasks.editions.forced`) are computed
    again. All pairs are scored where the run ``is_whole``, whatever the study's ``stop`` says.

    Raises ConfigError when the study takes its models from a registry.
    """
    study = load_study(config, overrides)
    if is_whole:
        study = study.to_the_end()
    fork_server.begin_if_new(study)
    from flows.commands.audits import audit
    from flows.commands.reaudits import refuse_registry

    refuse_registry(study, "run")
    audit(console, config, study, force)
