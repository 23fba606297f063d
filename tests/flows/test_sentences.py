"""Sentences in a terminal of 80 columns."""

import io

from flows.commands.terminal import say_sentence
from tasks.terminal import Terminal

FINDING = (
    "small_cnn: Reacts to wall hue: this change moves the score by 0.788 (now 95 %: 0.735 to "
    "0.833), 100 % evidence; the final scores differ by 0.941 (M)."
)


def printed(text, width):
    file = io.StringIO()
    say_sentence(Terminal(file=file, width=width), text)
    return file.getvalue()


def test_lines_fit_and_lose_nothing():
    for width in (40, 1000):
        lines = printed(FINDING, width).splitlines()
        assert max(map(len, lines)) <= 80
        assert [line.startswith("  ") for line in lines] == [False, True]
        assert " ".join(line.strip() for line in lines) == FINDING


def test_a_percentage_stays_together():
    lines = printed("x" * 77 + " 95 %", 80).splitlines()
    assert lines == ["x" * 77, "  95 %"]


def test_a_long_word_is_whole_and_codes_are_shown():
    assert printed("x" * 100, 80) == "x" * 100 + "\n"
    assert printed("a\x1b[2Jb\nc", 80) == "a\\x1b[2Jb\\nc\n"
