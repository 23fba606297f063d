"""Check that a study has everything it needs before the first model is trained."""

from collections.abc import Hashable, Iterable
from typing import Protocol

from decaf.errors import BadInput, abridge


class Check(Hashable, Protocol):
    """Function that looks for one thing that a study needs; equal checks run once."""

    def __call__(self) -> tuple[str, ...]:
        """Remarks on unused parts of that thing.

        Raises BadInput if it is missing or unusable.
        """
        ...


def run_checks(checks: Iterable[tuple[str, Check]]) -> list[str]:
    """Run checks, each with the name of its user; return remarks on parts that are not used.

    Raises BadInput that lists each problem and its users.
    """
    users_by_check: dict[Check, list[str]] = {}
    for user, check in checks:
        users_by_check.setdefault(check, []).append(user)
    remarks: list[str] = []
    problems: dict[str, None] = {}
    for check, names in users_by_check.items():
        try:
            remarks += check()
        except BadInput as error:
            problems[f"{abridge(names)}: {error}"] = None
    if problems:
        several = f"{len(problems)} things that the study needs are missing or unusable:"
        raise BadInput("\n".join([several, *problems] if len(problems) > 1 else problems))
    return list(dict.fromkeys(remarks))
