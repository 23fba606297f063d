"""Contracts of registries, whose example must be listable on this machine."""

from decaf.contracts.base import Trial, require, same_twice
from decaf.models.card import ModelCard
from decaf.plan.resolution import list_entries
from decaf.registry.entries import Entry, Fetched


def lists_the_same_twice(trial: Trial) -> None:
    """entries() returns the same entries in the same order each time, and every name once."""
    entries = same_twice(
        lambda: list_entries(trial.member),
        "entries() gave others, or another order, when it was called again; sort them, and make "
        "digests from content alone",
    )
    strange = [entry for entry in entries if not isinstance(entry, Entry)]
    require(not strange, f"entries() gave {strange[:1]}; expected decaf.registry.entries.Entry")


def knows_entries_by_digest(trial: Trial) -> None:
    """Each entry has a name, a version and a digest that changes when the entry may have."""
    for entry in trial.member.entries():
        bare = [name for name in ("name", "version", "digest", "place") if not getattr(entry, name)]
        require(
            not bare or entry.problem,
            f"entry {entry!r} has no {', '.join(bare)}; a re-audit compares these",
        )


def fetches_what_it_lists(trial: Trial) -> None:
    """fetch() copies an entry to this machine and returns its card, with or without an id."""
    for entry in trial.member.entries()[:1]:
        if entry.problem:
            continue
        fetched = trial.member.fetch(entry, trial.folder)
        require(
            isinstance(fetched, Fetched) and isinstance(fetched.model, dict | ModelCard),
            f"fetch() returned {type(fetched).__name__}; expected Fetched(card, folder, trusted)",
        )
        require(
            isinstance(fetched.model, ModelCard) or "id" not in fetched.model,
            "the card has an 'id'; leave it out, re-audits name their models",
        )
