"""What was printed, for comparison with what a page or a notebook shows."""

import re

CHANGING = re.compile(r"\d{4}-\d\d-\d\d|\b[0-9a-f]{12}\b")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def words_and_numbers(text):
    """What stands between numbers, however far apart, and the numbers; no dates, no digests."""
    text = CHANGING.sub("", text)
    words = re.sub(r"[\s─━┃│]+", " ", NUMBER.sub("#", text))
    return words, [float(number.replace(",", "")) for number in NUMBER.findall(text)]
