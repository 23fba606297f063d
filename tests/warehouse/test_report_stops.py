"""The section of a study that stops early: how far each model went, and what each look knew."""

import re

from stub_audit import Audit, insert_named

MODEL = Audit().models[0]
STOP = {"model_id": MODEL, "block_count": 8, "planned_block_count": 137, "source_count": 96}
STOP |= {"planned_source_count": 1644, "source_share": 96 / 1644, "is_decided": True}
RULE = {"entry": "net", "model_id": MODEL, "metric": "evidence", "rule": "increase", "level": 0.975}
RULE |= {"pair_type": "mixed_rand", "path": "blend", "gate_limit": 0.01}
RULE |= {"planned_source_count": 1644}
LOOKS = [
    RULE
    | {"source_count": count, "found": 0.031, "lower_limit": 0.031 - half}
    | {"upper_limit": 0.031 + half, "is_last": count == 96, "verdict": verdict}
    for count, half, verdict in (
        (24, 0.3, "undecided"),
        (48, 0.1, "undecided"),
        (96, 0.012, "fail"),
    )
]
ONCE = RULE | {"metric": "fragility", "rule": "at_most", "source_count": 24, "found": 0.002}
ONCE |= {"lower_limit": 0.0, "upper_limit": 0.004, "is_last": True, "verdict": "pass"}


def filled(connection, stops, looks):
    insert_named(connection, "out_stops", *stops)
    insert_named(connection, "out_looks", *looks)
    return connection


def section(text):
    start = text.index('<section id="stops">')
    return text[start : text.index("</section>", start)]


def test_what_each_look_knew_is_drawn_and_listed(stub, report):
    text = section(report(filled(stub(Audit()), [STOP], [*LOOKS, ONCE])).page)
    for words in ("over all 1,644 sources", "5.8 %", "137", "0.031", "[0.019, 0.043] at 97.5 %"):
        assert words in text, words
    # A rule that was decided by its first look has nothing that closes.
    (panel,) = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    for words in ("evidence, mixed_rand, blend", "increase 0.01"):
        assert words in panel
    assert "fragility" not in panel
    assert text.count("<td>pass") + text.count(">pass<") >= 1


def test_rules_without_an_answer_stand_first_then_the_slowest(stub, report):
    unknown = LOOKS[1] | {"metric": "contradiction", "is_last": True}
    page = report(filled(stub(Audit()), [STOP], [*LOOKS, ONCE, unknown])).page
    text = section(page)
    assert "1,548 of 1,644 sources were not scored" in page
    assert "2 of 3 rules decided, 2 after at most half" in text
    rules = text[text.index('<ul class="rules">') : text.index("</ul>")]
    assert re.findall(r"<b>(\w+) on mixed_rand, blend</b>", rules) == [
        "contradiction",
        "evidence",
        "fragility",
    ]
    # 48, 96 and 24 of 1,644 sources.
    assert re.findall(r"width:([\d.]+)%", rules) == ["2.92", "5.84", "1.46"]
    assert re.findall(r"(undecided|decided) after (\d+)", rules) == [
        ("undecided", "48"),
        ("decided", "96"),
        ("decided", "24"),
    ]


def test_only_the_slowest_rules_are_drawn(stub, report):
    many = [row | {"gate_limit": number / 100} for number in range(1, 16) for row in LOOKS]
    text = section(report(filled(stub(Audit()), [STOP], many)).page)
    assert "The 12 rules that needed the most sources; 3 more are not shown." in text


def test_a_study_that_has_no_stops_has_no_such_section(stub, report):
    assert 'id="stops"' not in report(stub(Audit())).page
