"""The user's own code on the workers: importable there, and the same as was planned with.

An order may hold instances of a stranger's classes, which are unpickled before the order is run:
their modules have to be importable by then, or the order is never answered. So the folders of
`python_path:` are the business of a plug-in of the worker, which Dask also gives to workers that
join later. The scheduler unpickles orders, too.
"""

from dataclasses import dataclass
from pathlib import Path

from distributed import Client, Worker, WorkerPlugin

from decaf.errors import BadInput, ConfigError
from decaf.foundation.callables import import_from
from decaf.foundation.digests import json_sha256, short
from decaf.foundation.strangers import (
    code_version,
    is_stranger,
    loaded,
    reference_of,
    referenced,
)
from decaf.plan.study import Study


@dataclass(frozen=True)
class UserCode:
    """What a study needs beside decaf itself."""

    folders: tuple[Path, ...]
    """Where the user's own modules are."""
    versions: dict[str, str]
    """Version of the code of every stranger's class, by ``module:Class``."""


class Folders(WorkerPlugin):
    """Makes the modules of some folders importable on a worker."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders = folders
        self.name = f"decaf-{short(json_sha256([str(folder) for folder in folders]))}"

    def setup(self, worker: Worker) -> None:
        """Add the folders to the path of the worker's process."""
        import_from(self.folders)


def user_code(study: Study) -> UserCode:
    """What the workers of a study need."""
    kinds = {type(member) for member in study.members}
    versions = {reference_of(kind): code_version(kind) for kind in kinds if is_stranger(kind)}
    return UserCode(study.python_path, versions)


def give(client: Client, code: UserCode | None) -> None:
    """Let the workers have the user's code, before any of them is given work.

    Raises BadInput when a worker cannot import a stranger's class, or has another version of it.
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
                        f"worker {worker} does not have the {reference} that was planned with, but "
                        f"{version}; give all workers the same files at the same place"
                    )


def versions_of(references: tuple[str, ...]) -> dict[str, str]:
    """Version of the code that this worker has of each class, or why it has none."""
    versions = {}
    for reference in references:
        try:
            versions[reference] = code_version(loaded(referenced(reference)))
        except ConfigError as error:
            versions[reference] = str(error)
    return versions
