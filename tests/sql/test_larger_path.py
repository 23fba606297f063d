"""Parts of the pairs in the report are on the path with the largest Abs, as findings are."""

from random_audit import by_cell

from warehouse.query.views import query


def test_parts_of_the_pairs_are_on_the_path_with_the_largest_response(catalogue, audit):
    parts = query("report/breakdowns")
    shown = catalogue(audit).sql(
        f"SELECT DISTINCT model_id, pair_type, path FROM ({parts})", params={"study": "s"}
    )
    largest = {}
    for (model, pair_type, path), rows in by_cell(audit, "stg_profiles").items():
        mean = sum(row["abs_response"] for row in rows) / len(rows)
        largest[model, pair_type] = max(largest.get((model, pair_type), (0.0, "")), (mean, path))
    expected = {(*place, path) for place, (_, path) in largest.items()}
    assert set(shown.fetchall()) == expected
    assert {("m0", "next", "patch"), ("m0", "rand", "blend")} <= expected
