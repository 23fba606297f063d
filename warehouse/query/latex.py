r"""Write rows as a LaTeX table with the rules of the package booktabs.

A file is one ``tabular``. Include it with ``\input`` inside a ``table`` of your own.
"""

import re
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from decaf.foundation.names import printable
from decaf.foundation.number_text import MINUS, MISSING, count_text, score_text
from warehouse.query.catalog import Rows
from warehouse.query.values import json_ready

COMMANDS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "[": "{[}",  # after \\, brackets and stars would be arguments
    "]": "{]}",
    "*": "{*}",
    MINUS: "$-$",
    MISSING: "--",
}
"""LaTeX for characters that it would read as commands or could not read."""
LIGATURE = re.compile(r"([-',])(?=\1)")
"""First of two characters that LaTeX would join into another one."""


def write_latex(rows: Rows, sink: IO[bytes]) -> int:
    """Write all rows as one ``tabular``; return their number.

    Floats have three decimals, counts thousands separators, NULL is an en dash. Columns of numbers
    are aligned to the right.
    """
    columns = "".join(map(_alignment, rows.schema.types))
    sink.write(
        f"% needs \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{columns}}}\n"
        f"\\toprule\n{_line(map(escape, rows.schema.names))}\\midrule\n".encode()
    )
    count = 0
    for batch in rows.batches:
        for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            sink.write(_line(map(cell_latex, values)).encode())
        count += batch.num_rows
    sink.write(b"\\bottomrule\n\\end{tabular}\n")
    return count


def cell_latex(value: object) -> str:
    r"""Write one value, in the number format of decaf's pages.

    >>> cell_latex(0.12345), cell_latex(-1234), cell_latex(1e-9), cell_latex(None)
    ('0.123', '$-$1,234', '\\textless{}0.001', '--')
    >>> cell_latex([0.5, None]), cell_latex("wall_hue")
    ('{[}0.500, --{]}', 'wall\\_hue')
    """
    return escape(_cell_text(value))


def escape(text: str) -> str:
    r"""Escape a text so that LaTeX prints it and runs none of it.

    >>> escape("50 % of {a}_1"), escape("a--b")
    ('50 \\% of \\{a\\}\\_1', 'a-{}-b')
    """
    apart = LIGATURE.sub("\\1\0", printable(text))
    return "".join(COMMANDS.get(letter, letter) for letter in apart).replace("\0", "{}")


def _cell_text(value: object) -> str:
    value = json_ready(value) if not isinstance(value, list | dict) else value
    if value is None or isinstance(value, float):
        return score_text(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return count_text(value).replace("-", MINUS)
    if isinstance(value, list):
        return f"[{', '.join(map(_cell_text, value))}]"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_cell_text(each)}" for name, each in value.items())
    return str(value)


def _alignment(kind: pa.DataType) -> str:
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return "r" if is_number else "l"


def _line(cells: Iterator[str]) -> str:
    return f"{' & '.join(cells)} \\\\\n"
