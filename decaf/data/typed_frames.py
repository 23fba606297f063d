"""Tables in files as data frames with the types that a model was fitted on."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Literal, cast

import numpy as np
from numpy.typing import NDArray

from decaf.data.frame_libraries import LIBRARIES, Category, Frame, Series
from decaf.data.frames import library_of
from decaf.data.missing_words import NOTHING_DECLARED, Declarations, ReadTable, restore_words
from decaf.data.table_files import (
    JSON_LINES,
    check_header,
    parquet_names,
    read_columns,
    refuse_equal_names,
)
from decaf.errors import MOST_KNOWN, DataError, abridge, suggestion
from decaf.foundation.files import convert_os_errors, open_file
from decaf.foundation.names import quote

CSV, PARQUET = ".csv", ".parquet"
WHOLE = ("int64", "Int64")
ROWS_SEARCHED = 10_000
"""First rows in which inputs are searched for leading zeros and separators of thousands.

Names are searched for zeros in all rows.
"""
SEPARATED = r"[+-]?\d{1,3}(?:[.,]\d{3})+"
"""Whole number with separators of thousands."""
MARKED = rf"(?:{SEPARATED}|[+-]?\d+)(?:[.,]\d+)?"
"""Number that may have separators of thousands and a decimal comma."""
FEWEST_SEPARATED, SMALLEST_SHARE = 20, 0.95
"""Fewest cells like 32.878, and smallest share of them and of cells below 1000, in a column."""
Dtype = Literal["bool", "boolean", "float32", "float64", "int64", "Int64", "object", "str"]
"""Types for 'dtypes:'; categories are declared under 'categories:'."""


def read_frame(
    path: Path,
    dtypes: Mapping[str, Dtype],
    categories: Mapping[str, tuple[Category, ...]],
    declarations: Declarations = NOTHING_DECLARED,
    texts: Collection[str] = (),
) -> ReadTable:
    """Read a table as a pandas frame, with the words that were read as missing.

    The table is CSV, as ``pandas.read_csv`` reads it, Parquet, or JSON lines. Columns of JSON have
    the types that ``pandas.DataFrame`` gives them; text stays text.

    Columns named in ``dtypes`` and ``categories`` have these types; names that the table lacks are
    ignored. In a CSV, ``texts`` are read as text, and words such as ``None``, which pandas reads as
    missing, stay values if ``categories`` or ``declarations`` name them. Raises DataError when the
    file cannot be read, or a column does not fit its type.
    """
    # Text that looks like numbers keeps its zeros only if it is read as text.
    text_categories = [
        name for name, levels in categories.items() if all(isinstance(v, str) for v in levels)
    ]
    text_dtypes: dict[str, str] = dict.fromkeys(texts, "str")
    read_dtypes = {**text_dtypes, **dtypes, **dict.fromkeys(text_categories, "str")}
    declared_values = {**declarations.declared, **categories}
    table = _read(path, read_dtypes, declarations._replace(declared=declared_values))
    frame = table.frame
    for name, dtype in dtypes.items():
        if name in frame:
            frame[name] = _as_type(frame, name, dtype, path)
    for name, levels in categories.items():
        if name in frame:
            frame[name] = _as_category(frame, name, levels, path)
    return table


def text_values(frame: Frame, names: Sequence[str]) -> dict[str, Sequence[str]]:
    """Texts that each text column holds, or that its categories declare."""
    library = LIBRARIES["pandas"]
    values: dict[str, Sequence[str]] = {}
    for name in names:
        declared = library.declared_categories(frame[name])
        if declared is None and library.content(frame[name]) == "string":
            values[name] = frame[name].dropna().unique().tolist()
        elif declared is not None and all(isinstance(level, str) for level in declared[0]):
            values[name] = cast("tuple[str, ...]", declared[0])
    return values


def refuse_marked_numbers(frame: Frame, names: Iterable[str], path: Path) -> None:
    """Raise DataError for a column of text whose values are all numbers in another notation.

    Such numbers have decimal commas or separators of thousands.
    """
    for name in names:
        if LIBRARIES["pandas"].content(frame[name]) != "string":
            continue
        values = frame[name].dropna().drop_duplicates().astype(str)
        marked = values[values.str.contains(r",|\..*\.")]
        if not marked.empty and values.str.fullmatch(MARKED).all():
            is_separated = marked.str.fullmatch(SEPARATED).all()
            mark = "separators of thousands" if is_separated else "a decimal comma"
            raise DataError(
                f"column {quote(name)} of {path} is text, and its value {marked.iloc[0]!r} looks "
                f"like a number with {mark}; expected points before decimals, and no other mark: "
                "save the table with such numbers, or, if it is text, set "
                f"'dtypes: {{{name}: str}}'"
            )


def cast_counterfactuals(counterfactuals: Frame, table: Frame, names: Sequence[str]) -> Frame:
    """Counterfactual rows with the column types of the table.

    Raises DataError if a column is missing or its values do not fit.
    """
    typed = counterfactuals.copy()
    for name in names:
        if name not in counterfactuals:
            raise DataError(
                f"the counterfactuals lack the column {name!r}; add it, or list it under 'drop:'"
            )
        column = _fit_type(counterfactuals[name], table[name], name)
        typed[name] = _mark_missing(column, table[name])
    return typed


def _mark_missing(column: Series, factual: Series) -> Series:
    """Write the missing values of a column of objects as the table's column does, None or NaN.

    Other columns are unchanged.
    """
    markers = LIBRARIES["pandas"].markers(factual)
    if column.dtype != object or len(markers) != 1:
        return column
    return column.where(column.notna(), None if markers == {"null"} else np.nan)


def _fit_type(column: Series, factual: Series, name: str) -> Series:
    """Column of the counterfactuals with the type of the table's column.

    Raises DataError if the values do not fit.
    """
    import pandas
    from pandas.api.types import is_numeric_dtype

    dtype, library = factual.dtype, LIBRARIES["pandas"]
    if column.dtype == dtype:
        return column
    if isinstance(column.dtype, pandas.CategoricalDtype):
        column = column.astype(column.dtype.categories.dtype)
    if isinstance(dtype, pandas.CategoricalDtype):
        strange = set(column.dropna().unique()) - set(dtype.categories)
        if strange:
            raise DataError(
                f"column {name!r} of the counterfactuals has "
                f"{abridge(sorted(map(repr, strange)))}; the table's categories are "
                f"{abridge([*map(repr, dtype.categories)], MOST_KNOWN)}: correct the value, or "
                "list under 'categories:' every value that the model was fitted on, in the order "
                "of the fit"
            )
        return column.astype(dtype)
    contents = {library.content(column), library.content(factual)}
    is_number = is_numeric_dtype(column.dtype) and is_numeric_dtype(dtype)
    is_alike = len(contents) == 1 and contents <= {"string", "boolean"}
    if not (is_number or is_alike or column.isna().all()):
        raise DataError(
            f"column {name!r} is {library.dtype(factual)} in the table and "
            f"{library.dtype(column)} in the counterfactuals; expected one type: declare it for "
            "both under 'dtypes:', or its values under 'categories:'"
        )
    try:
        typed = (column.astype("boolean") if str(dtype) == "bool" else column).astype(dtype)
        if (typed != column)[column.notna()].any():
            raise ValueError("some values would change")
    except (ValueError, TypeError) as error:
        raise DataError(
            f"column {name!r} is {dtype} in the table, and {column.dtype} in the counterfactuals, "
            f"which cannot be converted: {error}; declare one type for both under 'dtypes:'"
        ) from error
    return typed


def remark_new_texts(
    compared: Frame, reference: Frame, names: Sequence[str], reference_name: str = "the table"
) -> Iterator[str]:
    """Yield a remark for each text column of ``compared`` with texts that ``reference`` lacks.

    Columns with declared categories are skipped.
    """
    library = LIBRARIES[library_of(reference) or "pandas"]
    for name in names:
        if (
            library.kind(reference[name]) != "category"
            or library.declared_categories(reference[name]) is not None
        ):
            continue
        known_values = set(library.encode(reference[name])[1])
        if new_texts := sorted(set(library.encode(compared[name])[1]) - known_values, key=str):
            yield (
                f"column {name!r} has {abridge([*map(repr, new_texts)])}, which no row of "
                f"{reference_name} has{suggestion(str(new_texts[0]), map(str, known_values))}"
            )


def _read(path: Path, dtypes: Mapping[str, str], declarations: Declarations) -> ReadTable:
    import pandas

    suffix = path.suffix.lower()
    if suffix in JSON_LINES:
        return ReadTable(pandas.DataFrame(read_columns(path)))
    if suffix not in (CSV, PARQUET):
        raise DataError(
            f"table {path} has the suffix {suffix!r}; expected .csv, .parquet, .jsonl or .ndjson"
        )
    what, remedy = f"table {path} cannot be read", "put the file there, or correct its name"
    try:
        with convert_os_errors(DataError, what, remedy), open_file(path) as file:
            if suffix == CSV:
                return _read_csv(file, dtypes, declarations)
            refuse_equal_names(parquet_names(file))
            file.seek(0)
            frame = pandas.read_parquet(file)
    except UnicodeDecodeError as error:
        raise DataError(
            f"{what}: it is not UTF-8 (byte {error.object[error.start]:#x}: {error.reason}); save "
            "it as UTF-8"
        ) from error
    # Parsers raise different errors for bad content.
    except (ValueError, TypeError, LookupError, NotImplementedError) as error:
        or_types = ", or correct 'dtypes:'" if dtypes else ""
        raise DataError(f"{what}: {error}; check the file{or_types}") from error
    # A stored index is a column, too.
    return ReadTable(frame if frame.index.names == [None] else frame.reset_index())


def _read_csv(file: BinaryIO, dtypes: Mapping[str, str], declarations: Declarations) -> ReadTable:
    import pandas

    # Read the header as a row of cells, because pandas renames columns without a name or with the
    # name of another column.
    header = pandas.read_csv(file, header=None, nrows=1, dtype=str, keep_default_na=False)
    check_header(header.iloc[0].to_list())
    file.seek(0)
    frame = pandas.read_csv(file, dtype=dict(dtypes), low_memory=False)
    if not isinstance(frame.index, pandas.RangeIndex):
        raise ValueError("its rows have more cells than its header")
    number_columns = [
        name
        for name in frame
        if name in declarations.names and LIBRARIES["pandas"].kind(frame[name]) == "whole"
    ]
    inputs = [
        name
        for name in frame
        if name not in {*number_columns, *dtypes}
        and LIBRARIES["pandas"].kind(frame[name]) in ("whole", "number")
    ]
    input_cells = _read_cells(file, frame, frame.columns.isin(inputs), ROWS_SEARCHED)
    zeros, thousands = _find_zeros(input_cells), _find_thousands(input_cells)
    places = frame.isna().any() | frame.columns.isin(number_columns)
    if not places.any():
        return ReadTable(frame, zeros=zeros, thousands=thousands)
    cells = _read_cells(file, frame, places)
    zeros |= _find_zeros(cells[number_columns])
    table = restore_words(frame, cells, declarations)
    return table._replace(zeros=zeros, thousands=thousands)


def _read_cells(
    file: BinaryIO, frame: Frame, is_read: NDArray[np.bool_], row_count: int | None = None
) -> Frame:
    """Texts of some columns of a frame's CSV, of all rows or of the first ones."""
    import pandas

    file.seek(0)
    places = np.flatnonzero(is_read)
    cells = pandas.read_csv(file, usecols=places, dtype=str, keep_default_na=False, nrows=row_count)
    cells.columns = frame.columns[places]
    return cells


def _find_zeros(cells: Frame) -> dict[str, str]:
    """First text of a whole number with leading zeros, of each column that has one."""
    zeros = {}
    for name in cells:
        texts = cells[name][cells[name].str.fullmatch(r"[+-]?0\d+", na=False)]
        if not texts.empty:
            zeros[name] = str(texts.iloc[0])
    return zeros


def _find_thousands(cells: Frame) -> dict[str, str]:
    """First text like 32.878 of each column whose points may separate thousands.

    At least 20 texts are of this form, and nearly all others are whole numbers below 1000.
    """
    thousands = {}
    for name in cells:
        texts = cells[name][cells[name] != ""]
        is_separated = texts.str.fullmatch(r"[+-]?[1-9]\d{0,2}\.\d{3}", na=False)
        is_small = texts.str.fullmatch(r"[+-]?\d{1,3}", na=False)
        share = (is_separated | is_small).mean()
        if is_separated.sum() >= FEWEST_SEPARATED and share >= SMALLEST_SHARE:
            thousands[name] = str(texts[is_separated].iloc[0])
    return thousands


def _as_type(frame: Frame, name: str, dtype: Dtype, path: Path) -> Series:
    from pandas.api.types import is_numeric_dtype

    column = frame[name]
    try:
        # 'bool' would turn text and missing values into true; 'boolean' refuses both.
        typed = (column.astype("boolean") if dtype == "bool" else column).astype(dtype)
        if dtype in WHOLE and is_numeric_dtype(column) and (typed != column)[column.notna()].any():
            raise ValueError("it has fractions")
    except (ValueError, TypeError) as error:
        raise DataError(
            f"column {name!r} of {path} is {frame[name].dtype} and cannot be converted to {dtype}: "
            f"{error}; correct 'dtypes:'"
        ) from error
    return typed


def _as_category(frame: Frame, name: str, levels: tuple[Category, ...], path: Path) -> Series:
    import pandas

    if twice := [level for number, level in enumerate(levels) if level in levels[:number]]:
        raise DataError(
            f"'categories:' lists {twice[0]!r} twice for column {name!r}; list each value once"
        )
    strange = set(frame[name].dropna().unique()) - set(levels)
    if strange:
        raise DataError(
            f"column {name!r} of {path} has {abridge(sorted(map(repr, strange)))}, which "
            "'categories:' lacks; list every value that the model was fitted on, in the order of "
            "the fit"
        )
    return frame[name].astype(pandas.CategoricalDtype(list(levels)))
