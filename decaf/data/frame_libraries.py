"""One interface to pandas and polars; neither is imported before one of its frames arrives."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["number", "whole", "truth", "category"]
Marker = Literal["null", "nan"]
Category = str | int | float | bool
Frame = Any
"""A ``pandas.DataFrame`` or a ``polars.DataFrame``."""
Series = Any
CATEGORICAL_PREFIX = "category["
"""Prefix of the dtype of a pandas Categorical; the dtype of its categories follows."""


class Library(ABC):
    """Operations on the frames of one library: read columns, and build columns and frames."""

    @staticmethod
    @abstractmethod
    def dtype(series: Series) -> str:
        """Name of its type, from which it can be made again."""

    @staticmethod
    @abstractmethod
    def kind(series: Series) -> Kind | None:
        """Kind of its values; None for values that are neither numbers nor categories."""

    @staticmethod
    @abstractmethod
    def content(series: Series) -> str:
        """Words for its content, for messages."""

    @staticmethod
    @abstractmethod
    def missing(series: Series) -> NDArray[np.bool_]:
        """(n,) True where a value is missing."""

    @staticmethod
    @abstractmethod
    def markers(series: Series) -> set[Marker]:
        """Markers of its missing values; empty without missing values."""

    @staticmethod
    @abstractmethod
    def declared_categories(series: Series) -> tuple[tuple[Category, ...], bool] | None:
        """Categories that its type declares, and whether they are ordered; None without any."""

    @staticmethod
    @abstractmethod
    def recategorize(name: str) -> str:
        """Code for a column of ``x_minus`` with the categories of ``x_plus``, for messages."""

    @staticmethod
    @abstractmethod
    def present(series: Series) -> list[Any]:
        """Values that are not missing, in their order."""

    @staticmethod
    @abstractmethod
    def encode(series: Series) -> tuple[NDArray[np.int64], list[Any]]:
        """(n,) code of each value, -1 if it is missing, and the distinct values by code."""

    @staticmethod
    @abstractmethod
    def numbers(series: Series) -> NDArray[np.float64]:
        """(n,) values; NaN where a value is missing."""

    @staticmethod
    @abstractmethod
    def levels(
        categories: tuple[Category, ...], is_ordered: bool, marker: Marker | None, dtype: str
    ) -> Series:
        """All categories, and after them a missing value."""

    @staticmethod
    @abstractmethod
    def take(levels: Series, places: NDArray[np.int64]) -> Series:
        """Values of ``levels`` at positions."""

    @staticmethod
    @abstractmethod
    def numeric(
        values: NDArray[Any],
        is_missing: NDArray[np.bool_] | None,
        marker: Marker | None,
        dtype: str,
    ) -> Series:
        """Series of numbers or truth values of type ``dtype``, missing where ``is_missing``."""

    @staticmethod
    @abstractmethod
    def frame(columns: Mapping[str, Series]) -> Frame:
        """Frame of columns of one length."""


class _Pandas(Library):
    @staticmethod
    def dtype(series: Series) -> str:
        categories = getattr(series.dtype, "categories", None)
        if categories is None:
            return str(series.dtype)
        return f"{CATEGORICAL_PREFIX}{categories.dtype}]"

    @staticmethod
    def kind(series: Series) -> Kind | None:
        from pandas.api import types

        dtype = series.dtype
        if isinstance(dtype, types.CategoricalDtype):
            return "category"
        kinds: tuple[tuple[Kind, Callable[[Any], bool]], ...] = (
            ("truth", types.is_bool_dtype),
            ("whole", types.is_integer_dtype),
            ("number", types.is_float_dtype),
        )
        for kind, holds in kinds:
            if holds(dtype):
                return kind
        return "category" if _Pandas.content(series) in ("string", "boolean") else None

    @staticmethod
    def content(series: Series) -> str:
        from pandas.api.types import infer_dtype

        return infer_dtype(series, skipna=True)

    @staticmethod
    def missing(series: Series) -> NDArray[np.bool_]:
        return series.isna().to_numpy(bool)

    @staticmethod
    def markers(series: Series) -> set[Marker]:
        missing_values = series[series.isna()]
        return {"null" if value is None else "nan" for value in missing_values}

    @staticmethod
    def declared_categories(series: Series) -> tuple[tuple[Category, ...], bool] | None:
        categories = getattr(series.dtype, "categories", None)
        if categories is None:
            return None
        return tuple(categories.tolist()), bool(series.dtype.ordered)

    @staticmethod
    def recategorize(name: str) -> str:
        return f"pd.Categorical(x_minus[{name!r}], categories=x_plus[{name!r}].cat.categories)"

    @staticmethod
    def present(series: Series) -> list[Any]:
        return series[series.notna()].to_list()

    @staticmethod
    def encode(series: Series) -> tuple[NDArray[np.int64], list[Any]]:
        import pandas

        codes, values = pandas.factorize(series)
        return codes, values.tolist()

    @staticmethod
    def numbers(series: Series) -> NDArray[np.float64]:
        return series.to_numpy(np.float64, na_value=np.nan)

    @staticmethod
    def levels(
        categories: tuple[Category, ...], is_ordered: bool, marker: Marker | None, dtype: str
    ) -> Series:
        import pandas

        series_type: Any = dtype
        if dtype.startswith(CATEGORICAL_PREFIX):
            index = pandas.Index(categories, dtype=dtype[len(CATEGORICAL_PREFIX) : -1])
            series_type = pandas.CategoricalDtype(index, is_ordered)
        missing_value = None if marker == "null" else np.nan
        return pandas.Series([*categories, missing_value], dtype=series_type)

    @staticmethod
    def take(levels: Series, places: NDArray[np.int64]) -> Series:
        return levels.take(places).reset_index(drop=True)  # arrays of objects would become text

    @staticmethod
    def numeric(
        values: NDArray[Any],
        is_missing: NDArray[np.bool_] | None,
        marker: Marker | None,
        dtype: str,
    ) -> Series:
        import pandas

        series = pandas.Series(values).astype(dtype)
        return series if is_missing is None or not is_missing.any() else series.mask(is_missing)

    @staticmethod
    def frame(columns: Mapping[str, Series]) -> Frame:
        import pandas

        return pandas.DataFrame(dict(columns))


class _Polars(Library):
    @staticmethod
    def dtype(series: Series) -> str:
        return str(series.dtype.base_type())

    @staticmethod
    def kind(series: Series) -> Kind | None:
        dtype = series.dtype
        if str(dtype.base_type()) in ("String", "Categorical", "Enum"):
            return "category"
        if str(dtype) == "Boolean":
            return "truth"
        return "whole" if dtype.is_integer() else "number" if dtype.is_float() else None

    @staticmethod
    def content(series: Series) -> str:
        return str(series.dtype)

    @staticmethod
    def missing(series: Series) -> NDArray[np.bool_]:
        is_missing = series.is_null()
        if series.dtype.is_float():
            is_missing |= series.is_nan().fill_null(True)
        return is_missing.to_numpy()

    @staticmethod
    def markers(series: Series) -> set[Marker]:
        nan = series.dtype.is_float() and bool(series.is_nan().any())
        is_present: dict[Marker, bool] = {"null": series.null_count() > 0, "nan": nan}
        return {marker for marker, is_there in is_present.items() if is_there}

    @staticmethod
    def declared_categories(series: Series) -> tuple[tuple[Category, ...], bool] | None:
        if _Polars.dtype(series) != "Enum":
            return None
        return tuple(series.dtype.categories.to_list()), False

    @staticmethod
    def recategorize(name: str) -> str:
        return f"x_minus[{name!r}].cast(x_plus.schema[{name!r}])"

    @staticmethod
    def present(series: Series) -> list[Any]:
        return series.drop_nulls().to_list()

    @staticmethod
    def encode(series: Series) -> tuple[NDArray[np.int64], list[Any]]:
        places: dict[Any, int] = {}
        codes = np.full(len(series), -1)
        codes[~_Polars.missing(series)] = [
            places.setdefault(value, len(places)) for value in _Polars.present(series)
        ]
        return codes, [*places]

    @staticmethod
    def numbers(series: Series) -> NDArray[np.float64]:
        import polars

        return series.cast(polars.Float64).to_numpy()

    @staticmethod
    def levels(
        categories: tuple[Category, ...], is_ordered: bool, marker: Marker | None, dtype: str
    ) -> Series:
        import polars

        texts: Any = categories
        series_type = polars.Enum(texts) if dtype == "Enum" else getattr(polars, dtype)
        return polars.Series([*categories, None], dtype=series_type)

    @staticmethod
    def take(levels: Series, places: NDArray[np.int64]) -> Series:
        return levels.gather(places)

    @staticmethod
    def numeric(
        values: NDArray[Any],
        is_missing: NDArray[np.bool_] | None,
        marker: Marker | None,
        dtype: str,
    ) -> Series:
        import polars

        series = polars.Series(values).cast(getattr(polars, dtype))
        if is_missing is None or not is_missing.any():
            return series
        return series.scatter(np.flatnonzero(is_missing), None if marker == "null" else np.nan)

    @staticmethod
    def frame(columns: Mapping[str, Series]) -> Frame:
        import polars

        return polars.DataFrame(dict(columns))


LIBRARIES: Mapping[str, type[Library]] = {"pandas": _Pandas, "polars": _Polars}
