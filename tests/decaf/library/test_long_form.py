"""Results as tables in long form, for every library of frames, and as HTML."""

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import decaf
from decaf.errors import BadInput

AS_LISTS = {
    "to_pandas": lambda frame: frame.to_dict("list"),
    "to_polars": lambda frame: frame.to_dict(as_series=False),
    "to_arrow": lambda table: table.to_pydict(),
}


@pytest.fixture(scope="module")
def audited():
    # From the midpoints 1 and 2 to both ends: r = (0, 2) and (0, -4).
    x_plus, x_minus = [[2.0], [0.0]], [[0.0], [4.0]]
    options = {"stages": 2, "ids": ["<a>", "b"], "clusters": ["p", "q"]}
    return decaf.audit(lambda x: x, x_plus, x_minus, **options)


@pytest.mark.parametrize("method", AS_LISTS)
class TestTables:
    def test_a_trajectory_has_one_row_a_stage(self, audited, method):
        assert AS_LISTS[method](getattr(audited, method)()) == {
            "pair_id": ["<a>", "<a>", "b", "b"],
            "cluster": ["p", "p", "q", "q"],
            "path": ["blend"] * 4,
            "row": [0, 0, 1, 1],
            "repetition": [0] * 4,
            "stage": [0, 1, 0, 1],
            "t": [0, 1, 0, 1],
            "q_plus": [1, 2, 2, 0],
            "q_minus": [1, 0, 2, 4],
            "response": [0, 2, 0, -4],
        }

    def test_profiles_have_one_row_a_pair(self, audited, method):
        table = AS_LISTS[method](getattr(audited.at(3).profiles, method)())
        assert table.pop("sign_flip_frac")[1] == 0
        assert table == {
            "pair_id": ["<a>", "b"],
            "cluster": ["p", "q"],
            "path": ["blend", "blend"],
            "row": [0, 1],
            "endpoint_delta": [2, -4],
            "evidence": [0, 2],
            "contradiction": [0, 0],
            "fragility": [1, 0],
            "abs_response": [1, 2],
            "opposed_mass": [0, 0],
            "is_endpoint_active": [False, True],
            "endpoint_magnitude": [2, 4],
            "net_response": [0, 2],
        }

    def test_a_summary_has_one_row_a_metric(self, audited, method):
        summary = audited.summary()
        table = AS_LISTS[method](getattr(summary, method)())
        assert table["metric"][:2] == ["endpoint_magnitude", "evidence"]
        assert table["symbol"] == ["M", "E", "C", "F", "Abs", "Net", ""]
        assert table["path"] == ["blend"] * 7
        assert table["epsilon"] == [0.02] * 7
        assert table["estimate"] == [3, 1.5, 0, 0, 1.5, 1.5, 1]
        assert table["upper_95"][1] == summary.evidence.upper_95
        assert table["cluster_count"] == [2] * 7

    def test_without_its_library_it_says_what_to_install(self, audited, method, monkeypatch):
        library = {"to_arrow": "pyarrow"}.get(method, method.removeprefix("to_"))
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(BadInput, match=f"pip install {library}"):
            getattr(audited, method)()


def test_paths_are_below_each_other(audited):
    paths = {"fast": decaf.Blend(sigma=0, stages=2), "slow": decaf.Blend(sigma=0, stages=3)}
    audits = decaf.audit(lambda x: x, [[2.0]], [[0.0]], path=paths)
    assert list(audits) == ["fast", "slow"]
    assert audits.to_pandas()["path"].tolist() == ["fast"] * 2 + ["slow"] * 3
    assert audits.to_columns()["t"].tolist() == [0, 1, 0, 0.5, 1]
    assert audits.profiles.to_columns()["evidence"].tolist() == [1, 1]
    summaries = audits.summary(replicates=10)
    assert str(summaries["slow"]) == str(audits["slow"].summary(replicates=10))
    assert len(summaries.to_pandas()) == 14
    assert audits._repr_html_().count("<table>") == 2


@given(arrays(np.float64, array_shapes(max_dims=3, max_side=4), elements=st.floats(-1, 1)))
def test_profiles_of_any_shape_have_one_row_a_trajectory(ends):
    profiles = decaf.profile(np.stack([0 * ends, ends], axis=-1), [0, 1])
    table = profiles.to_columns()
    places = [name for name in table if name == "pair" or name.startswith("axis_")]
    assert places == ["pair", "axis_1", "axis_2"][: ends.ndim]
    where = tuple(table[name] for name in places)
    np.testing.assert_array_equal(table["endpoint_delta"], ends[where])
    np.testing.assert_array_equal(table["abs_response"], profiles.abs_response[where])


def test_profiles_survive_the_trip_to_another_process(audited):
    profiles = pickle.loads(pickle.dumps(audited.profiles))
    assert profiles.to_columns()["pair_id"].tolist() == ["<a>", "b"]
    assert profiles._fields == decaf.Profiles._fields


def test_html_is_a_small_table_and_escaped(audited):
    html = audited.profiles._repr_html_()
    assert html.startswith("<table><caption>2 rows</caption>")
    assert "<th scope='row'>&lt;a&gt;</th>" in html
    assert "<a>" not in html
    many = decaf.profile(np.ones((9, 2)), [0, 1])._repr_html_()
    assert many.count("<tr>") == 6
    assert "<td>evidence</td><td>1.500</td><td>[1.000, 2.000]</td>" in audited._repr_html_()


def test_changed_profiles_are_of_the_same_pairs():
    audited = decaf.audit(lambda x: x[:, 0], [[2.0], [4.0]], [[0.0], [1.0]], ids=["a", "b"])
    table = audited.profiles._replace(evidence=np.array([7.0, 8.0])).to_columns()
    assert (table["pair_id"].tolist(), table["evidence"].tolist()) == (["a", "b"], [7.0, 8.0])
