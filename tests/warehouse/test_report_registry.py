"""The section of a registry: what changed, what its gates said, and how every model came here."""

import io
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from PIL import Image
from stub_audit import Audit, insert_named

from warehouse.report.audit.facts import read_facts
from warehouse.report.audit.reaudit import strip_of
from warehouse.report.gauges import gauges_of

DAYS = (datetime(2026, 3, 1, 8, tzinfo=UTC), datetime(2026, 3, 2, 8, tzinfo=UTC))
VERSION = {"entry": "net", "version_before": "1", "version": "2"}
PLACE = {"pair_type": "mixed_rand", "path": "blend"}
ROWS = {
    "out_entries": [
        VERSION | {"state": "audited", "change": "weights", "verdict": "fail"},
        {"entry": "<b>", "version": "7", "state": "failed", "change": "failed", "problem": "cut"},
    ],
    "out_standing_verdicts": [
        {"entry": "net", "version": "2", "failed_gates": ["contradiction"], "alert_count": 2}
        | {"is_followed": True}
        | {
            "content_failed_since": DAYS[1],
            "entry_failing_since": DAYS[0],
            "version_passed": "0.9",
        },
        {
            "entry": "other",
            "version": "5",
            "failed_gates": ["evidence"],
            "content_failed_since": DAYS[0],
        }
        | {"accepted_at": DAYS[1], "accepted_by": "ada", "why": "brighter <camera>"},
    ],
    "out_verdicts": [
        VERSION
        | PLACE
        | {"verdict": "fail", "metric": "contradiction", "rule": "at_most", "gate_limit": 0.02}
        | {"found": 0.0712, "lower_limit": 0.0512, "upper_limit": 0.0912, "level": 0.95}
        | {"beyond_by": 0.0312},
        VERSION | PLACE | {"verdict": "pass", "metric": "evidence", "rule": "increase"},
    ],
    "out_drift": [
        VERSION
        | PLACE
        | {"against": "last_passed"}
        | {"metric": "contradiction", "value_before": 0.0212, "value": 0.0712, "change": 0.05}
        | {"change_lower": 0.0312, "change_upper": 0.0687, "p_adjusted": 0.004},
        VERSION | PLACE | {"metric": "fragility", "change": 0.001, "p_adjusted": 0.4},
    ],
    "out_role_changes": [
        VERSION
        | PLACE
        | {"role_before": "evidence", "role_now": "contradiction", "against": "last_passed"}
        | {"trajectory_count": 3}
        | {"frac": 0.15, "pair_ids": [f"pair {number}" for number in range(7)]}
    ],
    "out_history": [
        VERSION
        | PLACE
        | {"resolved_at": day, "version": str(number + 1), "change": "weights", "metric": metric}
        | {"value": value, "lower_limit": value - 0.01, "upper_limit": value + 0.01}
        for number, day in enumerate(DAYS)
        for metric, value in (("evidence", 0.4321), ("contradiction", 0.02), ("fragility", 0.01))
    ],
}


CHANGED = {
    "entry": "net",
    "against": "last_passed",
    "version_before": "1",
    "version": "2",
    "pair_type": "mixed_rand",
    "type_name": "a random background",
    "path": "blend",
    "path_name": "blend",
    "pair_id": "pair 4",
    "repetition": 0,
    "role_before": "fragility",
    "role_now": "evidence",
    "change_size": 0.7512,
    "fragility_before": 0.2512,
    "endpoint_delta_before": -0.001,
    "evidence_before": 0.0,
    "evidence": 0.5,
    "endpoint_delta": -0.625,
    "entry_place": 1,
    "kind_place": 1,
    "rank": 1,
    "t": [0.0, 0.5, 1.0],
    "q_plus_before": [0.5, 0.5, 0.75],
    "q_minus_before": [0.5, 1.0, 0.751],
    "q_plus": [0.5, 0.25, 0.25],
    "q_minus": [0.5, 0.875, 0.875],
    "words": "lake → <desert>",
}


def fill(connection, study="demo"):
    for view, rows in ROWS.items():
        at_newest = [{"resolved_at": DAYS[1]} | row for row in rows]
        insert_named(connection, view, *at_newest, study=study)


def fill_changed(connection, study="demo"):
    """Two pairs whose role changed, the first of them with a picture."""
    picture = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(picture, "WEBP", lossless=True)
    first = CHANGED | {"factual": picture.getvalue()}
    second = CHANGED | {"rank": 2, "pair_id": "pair 5"}
    second |= {"role_before": "evidence", "role_now": "none"}
    insert_named(connection, "out_changed_pairs", first, second, study=study)


def test_a_study_with_a_registry_shows_its_versions(stub, report):
    connection = stub(Audit())
    fill(connection)
    text = report(connection).page
    section = text[text.index('<section id="registry">') :]
    section = section[: section.index("</section>")]
    assert "#registry" in text
    shown = ("2026-03-01 08:00", "2026-03-02 08:00 UTC", "&lt;b&gt;", "1 → 2", "pair 4", "<svg")
    for words in (*shown, "[0.051, 0.091]", "0.004", "15 %", "0.432"):
        assert words in section, words
    standing = section[: section.index("The newest re-audit")]
    for words in ("2026-03-02 08:00", "no: it stands", "2026-03-02 08:00, ada", "brighter &lt;cam"):
        assert words in standing, words
    assert "pair 5" not in section
    assert "0.400" not in section, "no discovery"


def test_a_failed_gate_opens_the_page(stub, report):
    connection = stub(Audit())
    fill(connection)
    named = "display_name = 'a random background' WHERE name = 'mixed_rand'"
    connection.execute(f"UPDATE core_display_names SET {named}")
    text = report(connection).text
    said = [
        "Do not deploy version 2 of net. Keep version 0.9, the last that passed or was accepted.",
        "finished",
        "✕ 1 limit failed, 1 passed",
        "contradiction on a random background, blend is 0.071 (95 %: 0.051 to 0.091), at most "
        "0.020 is allowed: beyond it by at least 0.031",
        "Failing since 2026-03-01 08:00 UTC Last that passed or was accepted 0.9",
        "Keep version 0.9 Point the registry at it again",
        "decaf history net",
        "decaf report CONFIG --against 0.9",
        "Accept version 2 all the same",
        "decaf accept CONFIG net --why TEXT",
        "What changed <b> 7: not audited",
        "net 1 → 2 (weights): failed; since version 1, the last that passed or was accepted: "
        "contradiction on a random background, blend 0.021 → 0.071",
        "Findings by model",
        "<b> 7 is not audited: cut",
        "other 5 failed its gates, and ada accepted it: brighter <camera>",
        "How to read this",
    ]
    places = [text.index(words) for words in said]
    assert places == sorted(places)
    assert "--to-the-end" not in text, "no model stopped early"
    passed = "Every gate that applies passed."
    assert passed not in text
    connection.execute("DELETE FROM out_standing_verdicts WHERE accepted_at IS NULL")
    connection.execute("UPDATE out_entries SET verdict = 'pass' WHERE entry = 'net'")
    text = report(connection).text
    assert "failed its gates, and ada accepted it" in text
    assert passed not in text, "an accepted failure is no pass"
    connection.execute("DELETE FROM out_standing_verdicts")
    text = report(connection).text
    assert passed in text
    assert "failed its gates" not in text


def test_a_version_that_was_asked_for_cannot_be_accepted(stub, report):
    connection = stub(Audit())
    fill(connection)
    for view in ("out_entries", "out_standing_verdicts", "out_verdicts"):
        connection.execute(f"UPDATE {view} SET entry = 'net@2' WHERE entry = 'net'")
    connection.execute("UPDATE out_standing_verdicts SET is_followed = false")
    compared = "compared_entry = 'net@champion', version_compared = '1'"
    connection.execute(f"UPDATE out_entries SET {compared} WHERE entry = 'net@2'")
    text = report(connection).text
    assert "Failed at 2026-03-02 08:00 UTC Compared with net@champion 1" in text
    assert "which the study does not follow" in text
    assert "beyond it by at least 0.031" in text
    for absent in ("Failing since", "No version before", "decaf accept", "--against"):
        assert absent not in text, absent


def test_several_failures_are_counted(stub, report):
    connection = stub(Audit())
    fill(connection)
    connection.execute("UPDATE out_standing_verdicts SET accepted_at = NULL")
    connection.execute(
        "UPDATE out_standing_verdicts SET entry_failing_since = content_failed_since"
    )
    connection.execute("UPDATE out_entries SET entry = 'other' WHERE entry = '<b>'")
    assert "2 of 2 versions in the registry failed their gates" in report(connection).text


def test_pairs_whose_role_changed_are_drawn_in_both_versions(stub, report):
    connection = stub(Audit())
    fill(connection)
    fill_changed(connection)
    page = report(connection)
    for words in (
        "Pairs that changed most",
        "net, version 1 → 2",
        "fragility → evidence",
        "lake → <desert>",
        "d −0.001 became −0.625",
        "factual 0.750 → 0.250",
        "changed 0.751 → 0.875",
        "version 1 F 0.251 d −0.001",
        "version 2 E 0.500 d −0.625",
        "Version 1: At t = 0.5 the response is −0.500. It ends at −0.001, below the threshold",
        "Version 2: The response keeps its sign from start to end, and ends at −0.625.",
        "evidence → no response",
    ):
        assert words in page.text, words
    (card, other) = page.page.split('<article class="card change')[1:]
    assert "data:image/webp;base64," in card
    assert "data:image" not in other
    assert card.count('<polygon class="fragility"') == 1, "of the version before"
    assert card.count('<polygon class="evidence"') == 1
    assert page.page.index('id="changed"') < page.page.index("How to read this</h2>")


def test_a_gate_is_drawn_with_its_limit_and_interval(stub, report):
    connection = stub(Audit())
    fill(connection)
    failed = ROWS["out_verdicts"][0] | {"rule": "decrease", "metric": "evidence"}
    failed |= {"gate_limit": 0.05, "found": -0.25, "lower_limit": -0.3, "upper_limit": -0.2}
    failed |= {"beyond_by": 0.15}
    unsure = failed | {"verdict": "undecided", "lower_limit": -0.4, "upper_limit": 0.0}
    unmeasured = {**failed, "verdict": "not applicable", "found": None, "lower_limit": None}
    unmeasured["reason"] = "the pairs differ"
    insert_named(connection, "out_verdicts", failed, unsure, unmeasured)
    facts = read_facts(connection, "demo")
    below, _, falls, unsure_of, unmeasured_of = gauges_of(facts.verdicts, facts.run.score)
    assert (below.value, below.allowed) == ("0.071", "at most 0.020")
    places = below.drawn
    assert (places.limit_at, places.lower_at, places.found_at, places.upper_at) == (
        *(2.0, 5.12, 7.12, 9.12),
    )
    assert places.allowed == (0.0, 2.0)
    assert (falls.value, falls.allowed) == ("−0.250", "at least −0.050")
    places = falls.drawn
    assert (places.lower_at, places.found_at, places.upper_at, places.limit_at) == (
        *(35.0, 37.5, 40.0, 47.5),
    )
    assert places.allowed == (47.5, 52.5)
    kinds = [gauge.badge[0] for gauge in (below, falls, unsure_of, unmeasured_of)]
    assert kinds == ["failed", "failed", "undecided", "none"]
    places = unsure_of.drawn
    assert places.lower_at < places.limit_at < places.upper_at
    assert unmeasured_of.drawn is None
    text = report(connection).text
    assert "the limit lies inside the interval" in text
    assert "1 limit on a change does not apply: the pairs differ" in text
    assert "nothing to compare with" not in text, "the reason may be another"


def test_models_have_the_names_of_the_registry_all_over_the_page(stub, report):
    connection = stub(Audit())
    fill(connection)
    rows = [row for row in report(connection).rows if row]
    connection.execute("UPDATE out_entries SET model_id = 'vit_small' WHERE entry = 'net'")
    renamed = [row for row in report(connection).rows if row]
    models = sum(row[0].startswith("vit_small") for row in rows)
    assert models
    assert not any(row[0].startswith("vit_small") for row in renamed)
    before = sum(row[0].startswith("net 2") for row in rows)
    assert sum(row[0].startswith("net 2") for row in renamed) == before + models
    named = [row[0] for row in renamed]
    assert "net 2 vit_small, timm/vit_small" in named, "its id stands in the list of models"


def test_a_study_without_a_registry_has_no_such_section(stub, report):
    assert "registry" not in report(stub(Audit())).page


def test_a_champion_that_passed_is_kept_where_no_version_before_has_passed(stub, report):
    connection = stub(Audit())
    fill(connection)
    connection.execute("UPDATE out_standing_verdicts SET version_passed = NULL")
    assert "No version before it passed or was accepted." in report(connection).text
    champion = {"entry": "net@champion", "version": "1", "verdict": "pass", "state": "audited"}
    insert_named(connection, "out_entries", champion | {"resolved_at": DAYS[1]})
    assert "Keep version 1 (net@champion), which passed." in report(connection).text


def test_the_first_bad_version_may_be_older_than_the_versions_drawn():
    days = [DAYS[0] + timedelta(days=number) for number in range(12)]
    versions = [
        SimpleNamespace(
            entry="net", version=str(n), resolved_at=day, verdict="fail", accepted_at=None
        )
        for n, day in enumerate(days)
    ]
    versions[0].verdict, versions[3].verdict = "pass", "undecided"
    standing = [SimpleNamespace(entry="net", accepted_at=None)]
    strip = strip_of(SimpleNamespace(versions=versions, standing=standing, entries=[]))
    assert strip.title == "Version 1 of net is the first bad one"
    ((_, spans),) = strip.entries
    assert spans[0].version == "4"
    versions[1].accepted_at = DAYS[0]
    strip = strip_of(SimpleNamespace(versions=versions, standing=standing, entries=[]))
    assert strip.title == "Version 2 of net is the first bad one"


def test_each_comparison_says_which_version_it_is_with_and_why(stub, report):
    """The strongest comparison opens the page, and every row of drift has its own version."""
    connection = stub(Audit())
    fill(connection)
    connection.execute(
        "UPDATE out_drift SET version_before = '0.9', value_before = 0.0512, value = 0.0712 "
        "WHERE against = 'last_passed'"
    )
    connection.execute(
        "INSERT INTO out_drift BY NAME SELECT * REPLACE ('previous' AS against, "
        "'1' AS version_before, 0.0654 AS value_before) FROM out_drift WHERE p_adjusted < 0.05"
    )
    page = report(connection)
    since = "net 1 → 2 (weights): failed; since version 0.9, the last that passed"
    assert since in page.text
    moved = [row for row in page.rows if row and row[0].startswith("net") and "0.071" in row]
    named = {row[0]: reason for row in moved for reason in row if "pass" in reason}
    assert named == {
        "net 0.9 → 2": "the last that passed or was accepted",
        "net 1 → 2": "the version before, which does not count as passed",
    }


def test_a_version_that_was_compared_with_none_did_not_stay_equal(stub, report):
    connection = stub(Audit())
    entries = [
        VERSION | {"state": "audited", "change": "weights", "verdict": "pass", "entry": name}
        for name in ("compared", "other pairs")
    ]
    entries.append(entries[0] | {"entry": "old", "change": "returned"})
    insert_named(connection, "out_entries", *[row | {"resolved_at": DAYS[1]} for row in entries])
    compared = {"is_newest": True, "is_changed": True, "is_another": False}
    insert_named(
        connection,
        "core_entry_versions",
        compared | {"entry": "compared", "against": "last_passed"},
        compared | {"entry": "compared", "against": "another_entry", "reason": "epsilon differs"},
        compared | {"entry": "other pairs", "against": "last_passed", "reason": "the pairs differ"},
    )
    text = report(connection).text
    assert "compared 1 → 2 (weights): passed; nothing moved by more than chance" in text
    assert "other pairs 1 → 2 (weights): passed; not compared, because the pairs differ" in text
    assert text.count("nothing moved") == 1


def test_undecided_versions_are_in_the_headline(stub, report):
    connection = stub(Audit())
    undecided = {"entry": "net", "version": "2", "state": "audited", "change": "weights"}
    undecided |= {"verdict": "undecided", "resolved_at": DAYS[1]}
    insert_named(connection, "out_entries", undecided)
    gone = undecided | {"entry": "old", "state": "gone", "verdict": None}
    insert_named(connection, "out_entries", gone)
    assert "1 of 1 versions in the registry is undecided" in report(connection).text
