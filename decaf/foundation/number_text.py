"""Format numbers for pages, charts and tables; files keep plain numbers."""

MISSING = "–"
"""Text for a missing value."""
MINUS = "−"
MOST_DECIMALS = 12
"""Decimals that tell a value from its limit."""


def score_text(value: float | None, decimals: int = 3) -> str:
    """Write a score, a mean of scores or a probability with three decimals.

    A value that rounds to zero shows its bound, and zero is ``0``. Set ``decimals`` for values that
    a publication prints with more.

    >>> score_text(0.12345), score_text(-0.5), score_text(1234.5)
    ('0.123', '−0.500', '1,234.500')
    >>> score_text(1e-6), score_text(-1e-6), score_text(0.0), score_text(None)
    ('<0.001', '<0.001', '0', '–')
    """
    if value is None:
        return MISSING
    bound = 10.0**-decimals
    if 0 < abs(value) < bound / 2:
        return f"<{bound:.{decimals}f}"
    return "0" if value == 0 else f"{value:,.{decimals}f}".replace("-", MINUS)


def signed_text(value: float | None) -> str:
    """Write a difference of scores with its sign; one below the bound has none.

    >>> signed_text(0.25), signed_text(-0.5), signed_text(0.0), signed_text(-1e-5)
    ('+0.250', '−0.500', '0', '<0.001')
    """
    text = score_text(value)
    return f"+{text}" if value and value > 0 and text[0] != "<" else text


def limit_text(value: float | None) -> str:
    """Write a limit or a threshold that a study sets: three decimals, and more if it has more.

    >>> limit_text(0.05), limit_text(0.0004), limit_text(0), limit_text(-0.25), limit_text(None)
    ('0.050', '0.0004', '0', '−0.250', '–')
    """
    if value is None:
        return MISSING
    text = f"{abs(value):.12f}".rstrip("0")
    return score_text(value, max(3, len(text.partition(".")[2])))


def text_beside_limit(value: float, limit: float) -> str:
    """Write a value as :func:`score_text`, with more decimals if it would else equal its limit.

    >>> text_beside_limit(0.0050376, 0.005), text_beside_limit(0.02, 0.005)
    ('0.00504', '0.020')
    >>> text_beside_limit(0.005, 0.005), text_beside_limit(0.00496, 0.005)
    ('0.005', '0.00496')
    """
    decimals = 3
    while value != limit and decimals < MOST_DECIMALS and round(value, decimals) == limit:
        decimals += 1
    return score_text(value, decimals)


def percent_text(fraction: float | None) -> str:
    """Write a fraction in percent, with at most one decimal; only a whole is 100 %.

    >>> percent_text(0.1234), percent_text(0.5), percent_text(0), percent_text(None)
    ('12.3 %', '50 %', '0 %', '–')
    >>> percent_text(0.0001), percent_text(0.9999), percent_text(1), percent_text(-0.25)
    ('<0.1 %', '>99.9 %', '100 %', '−25 %')
    """
    if fraction is None:
        return MISSING
    if 0 < abs(fraction) < 0.0005:
        return "<0.1 %"
    if 0.9995 <= fraction < 1:
        return ">99.9 %"
    return f"{100 * fraction:,.1f}".removesuffix(".0").replace("-", MINUS) + " %"


def count_text(value: int | None) -> str:
    """Write a count with thousands separators.

    >>> count_text(1234567), count_text(None)
    ('1,234,567', '–')
    """
    return MISSING if value is None else f"{value:,}"


def tick_text(value: float) -> str:
    """Write a stage or a tick of an axis with the decimals that it needs, three at most.

    >>> tick_text(0.25), tick_text(1.0), tick_text(1 / 3), tick_text(-0.5)
    ('0.25', '1', '0.333', '−0.5')
    """
    return f"{value:.3f}".rstrip("0").rstrip(".").replace("-", MINUS)
