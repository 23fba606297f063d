"""Methods that a picture of attribution maps shows by default."""

from tasks.maps import RankedMethod, _choose_methods


def rank(*methods):
    """Methods with their stage counts, the best first."""
    return [RankedMethod("m", "p", name, stages, 0.5) for name, stages in methods]


def test_the_finest_decaf_endpoint_m_and_the_best_others():
    others = [(f"o{place}", None) for place in range(6)]
    ranked = rank(others[0], ("decaf_3", 3), ("endpoint_m", 2), ("decaf_9", 9), *others[1:])
    assert _choose_methods(ranked, []) == ["decaf_9", "endpoint_m", "o0", "o1", "o2", "o3"]


def test_endpoint_m_is_shown_once_where_the_path_has_two_stages():
    assert _choose_methods(rank(("area", None), ("endpoint_m", 2)), []) == ["endpoint_m", "area"]
