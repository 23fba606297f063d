"""Test a member of a place against its contracts, for decaf's own tests and for plug-in authors.

A class says with which settings it is tried: ``examples: ClassVar[tuple[dict[str, Any], ...]]``,
each as a section of a configuration without the tag. Without them it is tried with its defaults.
Contracts of a place are the public functions of the module of its name in this package.
"""

import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from decaf.contracts.base import COMMON, Broken, Contract, Trial, contracts_in, title
from decaf.errors import BadInput
from decaf.foundation.place import Placed
from decaf.foundation.plugins import describe_clash, name_of, providers
from decaf.foundation.third_party import load_object, make_entry_point, reference_of, tag_of
from decaf.plan.places import base_of

MADE = "Its examples make objects, as a section of a configuration does"
FREE = "Nobody else has its name"
LIGHT = "Planning with it imports no torch"
PLANNING = {"adapter": "pair_set", "registry": "entries"}
"""Methods that planning calls, by place."""


class Outcome(NamedTuple):
    """Outcome of one contract."""

    contract: str
    """Title of the contract."""
    problem: str | None = None
    """Why it does not; None when it holds."""


def check(member: type[Placed], examples: Sequence[dict[str, Any]] | None = None) -> list[Outcome]:
    """Try every contract of a member, with its class's example settings or with given ones.

    Gives one outcome for each contract: the first problem where several examples break it.
    """
    base = base_of(member)
    try:
        objects = [_make_object(member, example) for example in examples or _examples(member)]
    except Broken as error:
        return [Outcome(MADE, str(error))]
    place_module = import_module(f"decaf.contracts.{member.place.name}")
    contracts = COMMON + contracts_in(place_module)
    return [Outcome(MADE), *(_outcome(contract, objects, base) for contract in contracts)]


def has_a_free_name(member: type[Placed]) -> Outcome:
    """Look for members of the same place and name, in decaf or in installed packages."""
    base, name = base_of(member), name_of(member)
    other_claims = [
        who for reference, who in providers(base, name) if reference != reference_of(member)
    ]
    return Outcome(
        FREE, describe_clash([f"class {reference_of(member)}", *other_claims], base, name)
    )


def plans_without_torch(member: type[Placed]) -> Outcome:
    """Plan with a member in a fresh process, and check that torch was not imported."""
    code = (
        f"import sys; from {__name__} import plan_with; plan_with(sys.argv[1]); "
        "print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, reference_of(member)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return Outcome(LIGHT, done.stderr.strip().rpartition("\n")[2])
    is_light = done.stdout.strip().endswith("False")
    where = f"torch is imported by {member.__module__}, or by what planning calls"
    remedy = "import it in the methods that need it"
    return Outcome(LIGHT, None if is_light else f"{where}; {remedy}")


def plan_with(reference: str) -> None:
    """Import a class and call the members that planning calls, on its examples."""
    member = load_object(make_entry_point(reference))
    method = PLANNING.get(member.place.name)
    if method is not None:
        with suppress(Broken, BadInput):  # which the other contracts tell
            for example in _examples(member):
                getattr(_make_object(member, example), method)()


def _examples(member: type[Placed]) -> Sequence[dict[str, Any]]:
    return getattr(member, "examples", ({},))


def _make_object(member: type[Placed], example: dict[str, Any]) -> Any:
    section = {**example, member.place.tag: tag_of(member)}
    try:
        return TypeAdapter(member).validate_python(section)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" if fault["loc"] else fault["msg"]
            for fault in error.errors(include_url=False)
        )
        raise Broken(
            f"{section} is refused: {problems}; write settings that can be tried into the class, "
            "as examples: ClassVar[tuple[dict[str, Any], ...]] = ({…},)"
        ) from error


def _outcome(contract: Contract, objects: list[Any], base: type[Placed]) -> Outcome:
    problem = next(
        (text for example in objects if (text := _problem(contract, example, base))), None
    )
    return Outcome(title(contract), problem)


def _problem(contract: Contract, made: Any, base: type[Placed]) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            contract(Trial(made, base, Path(folder)))
        except Broken as error:
            return str(error)
        except BadInput as error:
            return f"it is refused: {error}"
        except Exception as error:  # noqa: BLE001 - third-party code may raise anything
            where = _own_frame(error, type(made))
            return f"{type(error).__name__}: {error} ({where}); repair it, or raise BadInput"
    return None


def _own_frame(error: Exception, member: type[Placed]) -> str:
    """The deepest line of the member's own file that led to an error."""
    frames = traceback.extract_tb(error.__traceback__)
    file = getattr(sys.modules.get(member.__module__), "__file__", None)
    own_frames: Iterator[Any] = (frame for frame in reversed(frames) if frame.filename == file)
    frame = next(own_frames, frames[-1])
    return f"{frame.filename}:{frame.lineno}, {reference_of(member)}"
