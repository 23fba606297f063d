"""Check that a study has everything it needs before the first model is trained."""

from collections.abc import Hashable, Iterable
from typing import Protocol

from decaf.errors import BadInput, abridge


class Check(Hashable, Protocol):
    """Looks for one thing that is needed. Equal checks are carried out once."""

    def __call__(self) -> tuple[str, ...]:
        """Remarks on what will not be used.

        Raises BadInput when it is not there, or cannot be used.
        """
        ...


def carry_out(checks: Iterable[tuple[str, Check]]) -> list[str]:
    """Carry out checks, each with the name of its user; return remarks on parts that are not used.

    Raises BadInput with all that is wrong, and what needs it.
    """
    askers: dict[Check, list[str]] = {}
    for asker, check in checks:
        askers.setdefault(check, []).append(asker)
    remarks: list[str] = []
    problems: dict[str, None] = {}
    for check, names in askers.items():
        try:
            remarks += check()
        except BadInput as error:
            problems[f"{abridge(names)}: {error}"] = None
    if problems:
        several = f"{len(problems)} things that the study needs are not there, or not as expected:"
        raise BadInput("\n".join([several, *problems] if len(problems) > 1 else problems))
    return list(dict.fromkeys(remarks))
