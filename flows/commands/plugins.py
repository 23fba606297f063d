"""List the classes that a study can use, and check the contracts of plug-ins."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from decaf.contracts.checking import Outcome, check, check_free_name, check_planning_imports
from decaf.contracts.targets import Candidate, candidates
from decaf.errors import ChecksFailed, ConfigError
from decaf.foundation.third_party import provider, tag_of
from decaf.plan.places import list_members, load_anywhere
from flows.commands.terminal import say

USABLE = "It can be loaded"


def list_plugins(console: Console) -> None:
    """Print the members of every place with their packages.

    Raises ChecksFailed, which lists the reasons, if a member cannot be loaded.
    """
    members = list_members()
    table = Table()
    for name in ("place", "name", "from", "class"):
        table.add_column(name, no_wrap=name != "class")
    for member in members:
        style = "red" if member.problem else ""
        provider, place = Text(member.provider), Text(member.defined_in)
        table.add_row(member.place, member.name, provider, place, style=style)
    console.print(table)
    problems = list(dict.fromkeys(member.problem for member in members if member.problem))
    if problems:
        shown = "\n".join(f"  {problem}" for problem in problems)
        raise ChecksFailed(
            f"{len(problems)} cannot be loaded; studies that do not name them still run:\n{shown}"
        )


def check_plugins(console: Console, target: str) -> None:
    """Print, for every class of a target, which contracts hold.

    Raises ConfigError if the target does not exist, and ChecksFailed if a contract is broken.
    """
    broken = 0
    for candidate in candidates(target):
        name, outcomes = _check_candidate(candidate)
        console.print(Text(name, style="bold"), soft_wrap=True)
        for outcome in outcomes:
            state, reason = ("broken", f": {outcome.problem}") if outcome.problem else ("ok", "")
            say(console, f"  {state:<6}  {outcome.contract}{reason}")
        broken += sum(outcome.problem is not None for outcome in outcomes)
    if broken:
        raise ChecksFailed(
            f"{broken} {'contract is' if broken == 1 else 'contracts are'} broken; the lines above "
            "have the reasons and remedies"
        )


def _check_candidate(candidate: Candidate) -> tuple[str, list[Outcome]]:
    try:
        member = load_anywhere(candidate.entry, candidate.place)
    except ConfigError as error:
        return provider(candidate.entry), [Outcome(USABLE, str(error))]
    title = f"{member.place.name} {tag_of(member)} ({provider(candidate.entry)})"
    free, light = check_free_name(member), check_planning_imports(member)
    return title, [Outcome(USABLE), free, light, *check(member)]
