"""``decaf views``: every view is described, with an example that runs."""

import pytest
from ended_commands import refused, succeeded

from decaf.errors import UnknownName
from warehouse.query.catalog import connect_empty
from warehouse.query.descriptions import OWN_RELATION, describe_view
from warehouse.query.views import views


@pytest.mark.slow
def test_every_view_is_described_and_its_example_runs():
    with connect_empty() as connection:
        for view in views():
            description = describe_view(connection, view.name)
            assert description.columns or description.signatures, view.name
            if description.example and OWN_RELATION not in description.example:
                rows = connection.sql(description.example)
                assert set(rows.columns) <= {name for name, _ in description.columns}
        scores = dict(describe_view(connection, "core_trajectories").columns)
        assert (scores["q_plus"], scores["pair_id"]) == ("DOUBLE[]", "VARCHAR")
        calls = describe_view(connection, "epsilon_sweep")
        assert calls.signatures == ("epsilon_sweep(epsilons)",)
        with pytest.raises(UnknownName, match="'out_costs'"):
            describe_view(connection, "out_cost")


def test_a_macro_is_found_in_the_file_of_another_name():
    with connect_empty() as connection:
        description = describe_view(connection, "bootstrap_by_group")
        assert description.view.name == "bootstrap"
        assert any(call.startswith("bootstrap_by_group(") for call in description.signatures)
        with pytest.raises(UnknownName, match="'bootstrap_by_group'"):
            describe_view(connection, "bootstrap_by_groups")


def test_views_are_described_without_a_warehouse(decaf):
    assert "out_rank_transfer" in succeeded(decaf("views"))
    description = succeeded(decaf("views", "epsilon_sweep"))
    for words in ("one row per study", "epsilon_sweep(epsilons)", "DOUBLE", "FROM epsilon_sweep(["):
        assert words in description
    refused(decaf("views", "out_cost"), "'out_costs'")
