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

    @abstractmethod
    def dtype(self, series: Series) -> str:
        """Name of its type, from which it can be made again."""

    @abstractmethod
    def kind(self, series: Series) -> Kind | None:
        """Kind of its values; None for values that are neither numbers nor categories."""

    @abstractmethod
    def content(self, series: Series) -> str:
        """Words for its content, for messages."""

    @abstractmethod
    def missing(self, series: Series) -> NDArray[np.bool_]:
        """(n,) True where a value is missing."""

    @abstractmethod
    def markers(self, series: Series) -> set[Marker]:
        """Markers of its missing values; empty without missing values."""

    @abstractmethod
    def declared_categories(self, series: Series) -> tuple[tuple[Category, ...], bool] | None:
        """Categories that its type declares, and whether they are ordered; None without any."""

    @abstractmethod
    def recategorize(self, name: str) -> str:
        """Code for a column of ``x_minus`` with the categories of ``x_plus``, for messages."""

    @abstractmethod
    def encode(self, series: Series) -> tuple[NDArray[np.int64], list[Any]]:
        """(n,) code of each value, -1 if it is missing, and the distinct values by code."""

    @abstractmethod
    def numbers(self, series: Series) -> NDArray[np.float64]:
        """(n,) values; NaN where a value is missing."""

    @abstractmethod
    def levels(
        self,
        categories: tuple[Category, ...],
        is_ordered: bool,
        marker: Marker | None,
        dtype: str,
    ) -> Series:
        """All categories, and after them a missing value."""

    @abstractmethod
    def take(self, levels: Series, places: NDArray[np.int64]) -> Series:
        """Values of ``levels`` at positions."""

    @abstractmethod
    def numeric(
        self,
        values: NDArray[Any],
        is_missing: NDArray[np.bool_] | None,
        marker: Marker | None,
        dtype: str,
    ) -> Series:
        """Series of numbers or truth values of type ``dtype``, missing where ``is_missing``."""

    @abstractmethod
    def frame(self, columns: Mapping[str, Series]) -> Frame:
        """Frame of columns of one length."""


class _Pandas(Library):
    def dtype(self, series: Series) -> str:
        categories = getattr(series.dtype, "categories", None)
        if categories is None:
            return str(series.dtype)
        return f"{CATEGORICAL_PREFIX}{categories.dtype}]"

    def kind(self, series: Series) -> Kind | None:
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
        return "category" if self.content(series) in ("string", "boolean") else None

    def content(self, series: Series) -> str:
        from pandas.api.types import infer_dtype

        return infer_dtype(series, skipna=True)

    def missing(self, series: Series) -> NDArray[np.bool_]:
        return series.isna().to_numpy(bool)

    def markers(self, series: Series) -> set[Marker]:
        missing_values = series[series.isna()]
        return {"null" if value is None else "nan" for value in missing_values}

    def declared_categories(self, series: Series) -> tuple[tuple[Category, ...], bool] | None:
        categories = getattr(series.dtype, "categories", None)
        if categories is None:
            return None
        return tuple(categories.tolist()), bool(series.dtype.ordered)

    def recategorize(self, name: str) -> str:
        return f"pd.Categorical(x_minus[{name!r}], categories=x_plus[{name!r}].cat.categories)"

    def encode(self, series: Series) -> tuple[NDArray[np.int64], list[Any]]:
        import pandas

        codes, values = pandas.factorize(series)
        return codes, values.tolist()

    def numbers(self, series: Series) -> NDArray[np.float64]:
        return series.to_numpy(np.float64, na_value=np.nan)

    def levels(
        self,
        categories: tuple[Category, ...],
        is_ordered: bool,
        marker: Marker | None,
        dtype: str,
    ) -> Series:
        import pandas

        series_type: Any = dtype
        if dtype.startswith(CATEGORICAL_PREFIX):
            index = pandas.Index(categories, dtype=dtype[len(CATEGORICAL_PREFIX) : -1])
            series_type = pandas.CategoricalDtype(index, is_ordered)
        missing_value = None if marker == "null" else np.nan
        return pandas.Series([*categories, missing_value], dtype=series_type)

    def take(self, levels: Series, places: NDArray[np.int64]) -> Series:
        return levels.take(places).reset_index(drop=True)  # arrays of objects would become text

    def numeric(
        self,
        values: NDArray[Any],
        is_missing: NDArray[np.bool_] | None,
        marker: Marker | None,
        dtype: str,
    ) -> Series:
        import pandas

        series = pandas.Series(values).astype(dtype)
        return series if is_missing is None or not is_missing.any() else series.mask(is_missing)

    def frame(self, columns: Mapping[str, Series]) -> Frame:
        import pandas

        return pandas.DataFrame(dict(columns))


class _Polars(Library):
    def dtype(self, series: Series) -> str:
        return str(series.dtype.base_type())

    def kind(self, series: Series) -> Kind | None:
        dtype = series.dtype
        if str(dtype.base_type()) in ("String", "Categorical", "Enum"):
            return "category"
        if str(dtype) == "Boolean":
            return "truth"
        return "whole" if dtype.is_integer() else "number" if dtype.is_float() else None

    def content(self, series: Series) -> str:
        return str(series.dtype)

    def missing(self, series: Series) -> NDArray[np.bool_]:
        is_missing = series.is_null()
        if series.dtype.is_float():
            is_missing |= series.is_nan().fill_null(True)
        return is_missing.to_numpy()

    def markers(self, series: Series) -> set[Marker]:
        nan = series.dtype.is_float() and bool(series.is_nan().any())
        is_present: dict[Marker, bool] = {"null": series.null_count() > 0, "nan": nan}
        return {marker for marker, is_there in is_present.items() if is_there}

    def declared_categories(self, series: Series) -> tuple[tuple[Category, ...], bool] | None:
        if self.dtype(series) != "Enum":
            return None
        return tuple(series.dtype.categories.to_list()), False

    def recategorize(self, name: str) -> str:
        return f"x_minus[{name!r}].cast(x_plus.schema[{name!r}])"

    def encode(self, series: Series) -> tuple[NDArray[np.int64], list[Any]]:
        places: dict[Any, int] = {}
        codes = np.full(len(series), -1)
        codes[~self.missing(series)] = [
            places.setdefault(value, len(places)) for value in series.drop_nulls().to_list()
        ]
        return codes, [*places]

    def numbers(self, series: Series) -> NDArray[np.float64]:
        import polars

        return series.cast(polars.Float64).to_numpy()

    def levels(
        self,
        categories: tuple[Category, ...],
        is_ordered: bool,
        marker: Marker | None,
        dtype: str,
    ) -> Series:
        import polars

        texts: Any = categories
        series_type = polars.Enum(texts) if dtype == "Enum" else getattr(polars, dtype)
        return polars.Series([*categories, None], dtype=series_type)

    def take(self, levels: Series, places: NDArray[np.int64]) -> Series:
        return levels.gather(places)

    def numeric(
        self,
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

    def frame(self, columns: Mapping[str, Series]) -> Frame:
        import polars

        return polars.DataFrame(dict(columns))


LIBRARIES: Mapping[str, Library] = {"pandas": _Pandas(), "polars": _Polars()}
