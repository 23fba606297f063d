"""Make the user's code importable on workers, and check that its version is the planned one.

A task may hold instances of the user's classes, which are unpickled before it runs. Unless their
modules can be imported by then, the task never returns. So a plug-in of the worker adds the folders
of `python_path:`; Dask also gives the plug-in to workers that join later. The scheduler unpickles
tasks, too.
"""

from dataclasses import dataclass
from pathlib import Path

from distributed import Client, Worker, WorkerPlugin

from decaf.errors import BadInput, ConfigError
from decaf.foundation.callables import import_from
from decaf.foundation.digests import json_sha256, short
from decaf.foundation.third_party import (
    code_version,
    is_third_party,
    load_object,
    make_entry_point,
    reference_of,
)
from decaf.plan.study import Study


@dataclass(frozen=True)
class UserCode:
    """Code that a study needs in addition to decaf."""

    folders: tuple[Path, ...]
    """Folders of the user's modules."""
    versions: dict[str, str]
    """Version of the code of every class of the user, by ``module:Class``."""


class Folders(WorkerPlugin):
    """Makes the modules of some folders importable on a worker."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders = folders
        self.name = f"decaf-{short(json_sha256([str(folder) for folder in folders]))}"

    def setup(self, worker: Worker) -> None:
        """Add the folders to the path of the worker's process."""
        import_from(self.folders)


def user_code(study: Study) -> UserCode:
    """Code that the workers of a study need."""
    kinds = {type(member) for member in study.plugin_sections}
    versions = {reference_of(kind): code_version(kind) for kind in kinds if is_third_party(kind)}
    return UserCode(study.python_path, versions)


def give(client: Client, code: UserCode | None) -> None:
    """Give the workers the user's code before their first task.

    Raises BadInput if a worker cannot import a class of the user, or has another version of it.
    """
    if code is None:
        return
    if code.folders:
        client.run_on_scheduler(import_from, code.folders)
        client.register_plugin(Folders(code.folders))
    if code.versions:
        answers = client.run(versions_of, tuple(code.versions))
        for worker, versions in answers.items():
            for reference, version in versions.items():
                if version != code.versions[reference]:
                    raise BadInput(
                        f"worker {worker} has {reference} in another version ({version}) than the "
                        "plan; give all workers the same files at the same path"
                    )


def versions_of(references: tuple[str, ...]) -> dict[str, str]:
    """Version of each class on this worker, or the reason why it cannot be imported."""
    versions = {}
    for reference in references:
        try:
            versions[reference] = code_version(load_object(make_entry_point(reference)))
        except ConfigError as error:
            versions[reference] = str(error)
    return versions
