"""Tables in files as data frames whose types are those that a model was fitted on."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from decaf.data.frame_libraries import LIBRARIES, Category, Frame
from decaf.data.table_files import JSON_LINES, check_separator, read_table
from decaf.errors import DataError, listed, suggestion
from decaf.foundation.files import open_file, refusals_as

CSV, PARQUET = ".csv", ".parquet"
WHOLE = ("int64", "Int64")
Dtype = Literal["bool", "boolean", "float32", "float64", "int64", "Int64", "object", "str"]
"""Types that a configuration may name; categories are named with their values."""


def read_frame(
    path: Path, dtypes: Mapping[str, Dtype], categories: Mapping[str, tuple[Category, ...]]
) -> Frame:
    """A pandas frame: of a CSV file as ``pandas.read_csv`` has it, of Parquet, or of JSON lines.

    Values of JSON have the types that ``pandas.DataFrame`` gives columns of them; text stays text.

    Columns named in ``dtypes`` and ``categories`` are of those types; names that the table lacks do
    no harm. Raises DataError when the file cannot be read, or a column does not fit its type.
    """
    # Text that looks like numbers keeps its zeros only where it is read as text.
    texts = [name for name, levels in categories.items() if all(isinstance(v, str) for v in levels)]
    frame = _read(path, {**dtypes, **dict.fromkeys(texts, "str")})
    for name, dtype in dtypes.items():
        if name in frame:
            frame[name] = _as_type(frame, name, dtype, path)
    for name, levels in categories.items():
        if name in frame:
            frame[name] = _as_category(frame, name, levels, path)
    return frame


def typed_as(other: Frame, frame: Frame, names: Sequence[str]) -> Frame:
    """Counterfactual rows with the types of the table's; raises DataError where they do not fit."""
    from pandas.api.types import is_numeric_dtype

    other = other.copy()
    for name in names:
        if name not in other:
            raise DataError(f"the counterfactuals lack the column {name!r}; add it, or 'drop:' it")
        own, wanted = other[name], frame[name].dtype
        are_numbers = is_numeric_dtype(own.dtype) and is_numeric_dtype(wanted)
        if own.dtype == wanted or not (are_numbers or own.isna().all()):
            continue
        try:
            typed = (own.astype("boolean") if str(wanted) == "bool" else own).astype(wanted)
            if (typed != own)[own.notna()].any():
                raise ValueError("it would change them")
        except (ValueError, TypeError) as error:
            raise DataError(
                f"column {name!r} is {wanted} in the table, and the counterfactuals' {own.dtype} "
                f"cannot be that: {error}; declare one type for both under 'dtypes:'"
            ) from error
        other[name] = typed
    return other


def strange_values(other: Frame, frame: Frame, names: Sequence[str]) -> Iterator[str]:
    """Say which text of a column, undeclared as categories, no row of the first table has."""
    library = LIBRARIES["pandas"]
    for name in names:
        if library.kind(frame[name]) != "category" or library.declared(frame[name]) is not None:
            continue
        known = set(library.present(frame[name]))
        if strange := sorted(set(library.present(other[name])) - known, key=str):
            yield (
                f"column {name!r} has {listed([*map(repr, strange)])}, which no row of the table "
                f"has{suggestion(str(strange[0]), map(str, known))}"
            )


def _read(path: Path, dtypes: Mapping[str, str]) -> Frame:
    import pandas

    suffix = path.suffix.lower()
    if suffix in JSON_LINES:
        return pandas.DataFrame(read_table(path))
    if suffix not in (CSV, PARQUET):
        raise DataError(f"table {path} is no .csv, .parquet, .jsonl or .ndjson; save it as one")
    what, remedy = f"table {path} cannot be read", "put the file there, or correct its name"
    try:
        with refusals_as(DataError, what, remedy), open_file(path) as file:
            if suffix == CSV:
                check_separator([*pandas.read_csv(file, nrows=0).columns])
                file.seek(0)
                frame = pandas.read_csv(file, dtype=dict(dtypes), low_memory=False)
                if not isinstance(frame.index, pandas.RangeIndex):
                    raise ValueError("its rows have more cells than its header")
                return frame
            frame = pandas.read_parquet(file)
    # Parsers refuse in their own ways; all of these are about the content.
    except (ValueError, TypeError, LookupError, NotImplementedError) as error:
        raise DataError(f"{what}: {error}; save it again, or correct 'dtypes:'") from error
    # A column that was the index when the table was stored is a column all the same.
    return frame if frame.index.names == [None] else frame.reset_index()


def _as_type(frame: Frame, name: str, dtype: Dtype, path: Path) -> Frame:
    from pandas.api.types import is_numeric_dtype

    own = frame[name]
    try:
        # 'bool' alone takes text and what is missing for true; 'boolean' refuses both.
        typed = (own.astype("boolean") if dtype == "bool" else own).astype(dtype)
        if dtype in WHOLE and is_numeric_dtype(own) and (typed != own)[own.notna()].any():
            raise ValueError("it has fractions")
    except (ValueError, TypeError) as error:
        raise DataError(
            f"column {name!r} of {path} is {frame[name].dtype}, and cannot be {dtype}: {error}; "
            "correct 'dtypes:'"
        ) from error
    return typed


def _as_category(frame: Frame, name: str, levels: tuple[Category, ...], path: Path) -> Frame:
    import pandas

    if len(set(levels)) < len(levels):
        raise DataError(
            f"'categories:' names a value of {name!r} twice: {listed([*map(repr, levels)])}; "
            "expected each once"
        )
    strange = set(frame[name].dropna().unique()) - set(levels)
    if strange:
        raise DataError(
            f"column {name!r} of {path} has {listed(sorted(map(repr, strange)))}, which "
            "'categories:' lacks; name every value that the model was fitted on, in its order"
        )
    return frame[name].astype(pandas.CategoricalDtype(list(levels)))
