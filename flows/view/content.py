"""Values of the templates for a table or a trajectory."""

from typing import Any, NamedTuple

from decaf.foundation.number_text import count_text, tick_text
from flows.view.addresses import FILTER, Address
from flows.view.crumbs import PLACES, crumbs_of
from flows.view.declared import BAR, ROLE
from flows.view.headlines import headline, lead
from flows.view.snapshot import Snapshot
from flows.view.tables import (
    Rows,
    choosable,
    columns_by_name,
    heads_of,
    lines_of,
    scale_of,
    shown_columns,
)
from flows.view.trajectories import Trajectory
from flows.view.verdicts import verdicts_of
from flows.view.versions import versions_of
from warehouse.query.pages import PAGE_ROWS
from warehouse.report.audit.facts import COMPONENTS
from warehouse.report.audit.reaudit import badge_of
from warehouse.report.cells import HASH_CHARACTERS

WORDS = {**{name: name for name in COMPONENTS}, "none": "no response"}
HELP = (
    ("cnn", "a part of any text in the row", ()),
    ("path:fading", "a part of the path's name", ("path",)),
    ("type:wall", "a part of the pair type's name", ("pair_type",)),
    ("role:evidence", "or contradiction, fragility, none", (ROLE,)),
    ("verdict:fail", "or pass, undecided", ("verdict",)),
    ('type:"wall colour"', "a text with spaces", ("pair_type",)),
    ("abs>0.2", "also e, c, f and d, with <, <=, > or >=", ("endpoint_delta",)),
    ("m>0.1", "a bound of M", ("endpoint_magnitude",)),
    ("epsilon<0.1", "a bound of any column of numbers", ("epsilon",)),
    ("severity<3", "a bound of any column of numbers", ("severity",)),
)
"""Words of a filter, their meaning, and the columns that a page needs for them."""


class RoleLink(NamedTuple):
    """A role with its number of rows; the link restricts the page to it."""

    role: str
    words: str
    count: str
    link: str
    is_current: bool


def table_values(snapshot: Snapshot, rows: Rows) -> dict[str, Any]:
    """Values of the template ``view/table``."""
    address, page = rows.address, rows.page
    responses = rows.answer["abs_response"].to_pylist() if BAR in page.columns else []
    scale = scale_of(snapshot, address.fixed_values.get("study"), responses)
    before, after = address.number - 1, address.number + 1
    fixed_values = [*address.fixed_values.items()]
    shown, fields = shown_columns(snapshot, rows), columns_by_name(snapshot, page)
    return {
        "title": page.name.capitalize(),
        "headline": headline(snapshot, rows),
        "lead": lead(snapshot, rows),
        "places": crumbs_of(snapshot, address),
        "address": address,
        "help": _help(rows),
        "kept_by_filter": [
            *fixed_values,
            *(each for each in address.options() if each[0] != FILTER),
        ],
        "kept_by_columns": [*fixed_values, *address._replace(columns=()).options()],
        "choices": [
            (name, fields[name].column.label, name in shown) for name in choosable(snapshot, rows)
        ],
        "roles": _role_links(rows),
        "restricted": [
            (f"{name}: {text}", address.with_fixed_values(**{name: None}).link())
            for name, text in fixed_values
            if name not in (*PLACES, *([ROLE] if rows.roles else []))
        ],
        "link_column": page.link,
        "verdicts": verdicts_of(snapshot, rows),
        "versions": versions_of(snapshot, rows),
        "registry": _registry_link(snapshot, rows),
        "badge_of": badge_of,
        "heads": heads_of(snapshot, rows),
        "lines": lines_of(snapshot, rows, scale),
        "scale": tick_text(scale),
        "first": before * PAGE_ROWS + 1,
        "total": rows.total,
        "previous": address._replace(number=before).link() if before else "",
        "next": address._replace(number=after).link() if after <= rows.last else "",
        "csv": address.link(".csv"),
        "sql": rows.question.command(snapshot.store.address),
    }


def _registry_link(snapshot: Snapshot, rows: Rows) -> str:
    """Link from the models of a study to their versions; empty without a registry."""
    study = rows.address.fixed_values.get("study")
    if rows.page.name != "models" or study not in snapshot.registries:
        return ""
    return Address("entries", {"study": study}).link()


def _help(rows: Rows) -> list[tuple[str, str]]:
    names = {*rows.columns.names}
    return [(words, meaning) for words, meaning, needed in HELP if names >= {*needed}]


def _role_links(rows: Rows) -> list[RoleLink]:
    if not rows.roles:
        return []
    now = rows.address.fixed_values.get(ROLE)
    every = count_text(sum(rows.roles.values()))
    links = [RoleLink("", "All", every, _of_role(rows.address, None), now is None)]
    for role, words in WORDS.items():
        number = count_text(rows.roles.get(role, 0))
        links.append(RoleLink(role, words, number, _of_role(rows.address, role), now == role))
    return links


def _of_role(address: Address, role: str | None) -> str:
    return address.with_fixed_values(**{ROLE: role}).link()


def trajectory_values(snapshot: Snapshot, trajectory: Trajectory) -> dict[str, Any]:
    """Values of the template ``view/trajectory``."""
    pair, address = trajectory.pair, trajectory.address
    fixed_values = {**address.fixed_values, "pair_type": pair["pair_type"]}
    subject = pair["words"] or pair["pair_id"]
    component, card = pair["component"].capitalize(), trajectory.card
    return {
        "title": f"{subject}, {pair['path_name']}",
        "headline": f"{component} {card.value}: {subject}",
        "places": crumbs_of(snapshot, address._replace(fixed_values=fixed_values)),
        "it": trajectory,
        "origin": f"decaf · {fixed_values['study']} · run {pair['run_id'][:HASH_CHARACTERS]}, "
        f"inputs {pair['pairs_digest'][:HASH_CHARACTERS]} · {address.link()}",
        "looks": {"scale": trajectory.scale},
        "csv": address.link(".csv"),
        "sql": trajectory.question.command(snapshot.store.address),
    }
