"""Test a plug-in class (a member) against the contracts of its kind (its place).

decaf's own tests and authors of plug-ins use it. A class states the settings to try:
``examples: ClassVar[tuple[dict[str, Any], ...]]``; each example is a configuration section without
the key that names the kind. A class without examples is tried with its defaults. The contracts of a
kind are the public functions of the module ``decaf.contracts.KIND``.
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

EXAMPLES_TITLE = "Its examples are valid settings"
NAME_TITLE = "No other plug-in has its name"
IMPORTS_TITLE = "Planning with it imports no torch"
PLANNING = {"adapter": "pair_set", "registry": "entries"}
"""Methods that planning calls, by place."""


class Outcome(NamedTuple):
    """Outcome of one contract."""

    contract: str
    """Title of the contract."""
    problem: str | None = None
    """Reason why the contract is broken; None if it holds."""


def check(member: type[Placed], examples: Sequence[dict[str, Any]] | None = None) -> list[Outcome]:
    """Try the common contracts and those of the member's place with ``examples``.

    The default is the examples of the class. Returns one outcome per contract, with the first
    problem; if an example is refused, only that outcome.
    """
    base = base_of(member)
    try:
        objects = [_make_object(member, example) for example in examples or _examples(member)]
    except Broken as error:
        return [Outcome(EXAMPLES_TITLE, str(error))]
    place_module = import_module(f"decaf.contracts.{member.place.name}")
    contracts = COMMON + contracts_in(place_module)
    return [Outcome(EXAMPLES_TITLE), *(_outcome(contract, objects, base) for contract in contracts)]


def check_free_name(member: type[Placed]) -> Outcome:
    """Look for members of the same place and name, in decaf or in installed packages."""
    base, name = base_of(member), name_of(member)
    other_claims = [
        owner for reference, owner in providers(base, name) if reference != reference_of(member)
    ]
    return Outcome(
        NAME_TITLE, describe_clash([f"class {reference_of(member)}", *other_claims], base, name)
    )


def check_planning_imports(member: type[Placed]) -> Outcome:
    """Plan with a member in a fresh process, and check that torch was not imported."""
    code = (
        f"import sys; from {__name__} import plan_with; plan_with(sys.argv[1]); "
        "print('torch' in sys.modules)"
    )
    process = subprocess.run(
        [sys.executable, "-P", "-c", code, reference_of(member)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        return Outcome(IMPORTS_TITLE, process.stderr.strip().rpartition("\n")[2])
    is_light = process.stdout.strip().endswith("False")
    where = f"torch is imported by {member.__module__}, or by what planning calls"
    remedy = "import it in the methods that need it"
    return Outcome(IMPORTS_TITLE, None if is_light else f"{where}; {remedy}")


def plan_with(reference: str) -> None:
    """Import a class and call the method that planning calls, on its examples."""
    member = load_object(make_entry_point(reference))
    method = PLANNING.get(member.place.name)
    if method is not None:
        with suppress(Broken, BadInput):  # reported by the other contracts
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
        (text for member_object in objects if (text := _problem(contract, member_object, base))),
        None,
    )
    return Outcome(title(contract), problem)


def _problem(contract: Contract, member_object: Any, base: type[Placed]) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            contract(Trial(member_object, base, Path(folder)))
        except Broken as error:
            return str(error)
        except BadInput as error:
            return f"it is refused: {error}"
        except Exception as error:  # noqa: BLE001 - third-party code may raise anything
            where = _own_frame(error, type(member_object))
            return (
                f"{type(error).__name__}: {error} ({where}); repair it, or raise BadInput or a "
                "subclass of it, such as ResponseError (decaf.errors)"
            )
    return None


def _own_frame(error: Exception, member: type[Placed]) -> str:
    """File, line and class: the innermost frame in the member's file, else the innermost frame."""
    frames = traceback.extract_tb(error.__traceback__)
    file = getattr(sys.modules.get(member.__module__), "__file__", None)
    own_frames: Iterator[Any] = (frame for frame in reversed(frames) if frame.filename == file)
    frame = next(own_frames, frames[-1])
    return f"{frame.filename}:{frame.lineno}, {reference_of(member)}"
