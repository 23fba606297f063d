"""Addresses of pages: restrictions of columns, filter, order and columns to show."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

import pyarrow as pa

from decaf.errors import BadInput, suggestion
from warehouse.query.pages import Filter, Term

FILTER, SORT, NUMBER, COLUMN = "q", "sort", "page", "column"
"""Parameters that are not columns; the last may be repeated."""


PAGE_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


class BadAddress(BadInput):
    """An address has an unknown or invalid parameter."""


class Address(NamedTuple):
    """One page of rows, as an address names it."""

    page: str
    fixed_values: Mapping[str, str] = {}
    """Values that columns must have, as text."""
    filter: str = ""
    sort: str = ""
    """Column, after a minus sign for descending order; empty for the page's default order."""
    number: int = 1
    columns: tuple[str, ...] = ()
    """Columns to show; empty for the page's default."""

    def link(self, ending: str = "") -> str:
        """Path and parameters of this address; ``ending`` selects another format, such as .csv."""
        parameters = [*self.fixed_values.items(), *self.options()]
        if self.number > 1:
            parameters.append((NUMBER, str(self.number)))
        query = f"?{urlencode(parameters)}" if parameters else ""
        return f"/{self.page}{ending}{query}"

    def options(self) -> list[tuple[str, str]]:
        """Parameters of filter, order and columns, without defaults."""
        texts = [(FILTER, self.filter), (SORT, self.sort)]
        return [*((name, text) for name, text in texts if text), *self._columns()]

    def _columns(self) -> list[tuple[str, str]]:
        return [(COLUMN, name) for name in self.columns]

    def with_fixed_values(self, **values: str | None) -> "Address":
        """Copy with other restrictions, at the first page; None removes a restriction."""
        merged = {**self.fixed_values, **values}
        fixed_values = {name: text for name, text in merged.items() if text is not None}
        return self._replace(fixed_values=fixed_values, number=1)


def parse_address(page: str, parameters: Iterable[tuple[str, str]], columns: pa.Schema) -> Address:
    """Read the parameters of a page whose query has these columns.

    Raises BadAddress for an unknown parameter, a repeated parameter, and an invalid page number.
    """
    single: dict[str, str] = {}
    chosen = []
    for name, text in parameters:
        if name == COLUMN:
            chosen.append(text)
        elif name in single:
            raise BadAddress(f"the address has {name} twice; expected one value")
        elif name not in (FILTER, SORT, NUMBER, *columns.names):
            hint = suggestion(name, columns.names)
            raise BadAddress(f"the address restricts the unknown column {name!r}{hint}")
        else:
            single[name] = text
    number = single.pop(NUMBER, "1")
    if not PAGE_NUMBER.fullmatch(number):
        raise BadAddress(f"the address asks for page {number!r}; expected 1 or more")
    words, sort = single.pop(FILTER, "").strip(), single.pop(SORT, "")
    if sort and sort.removeprefix("-") not in columns.names:
        hint = suggestion(sort.removeprefix("-"), columns.names)
        raise BadAddress(f"the address sorts by the unknown column {sort!r}{hint}")
    return Address(page, single, words, sort, int(number), tuple(chosen))


def restrictions(address: Address, columns: pa.Schema) -> list[Filter]:
    """Filters of the values that an address names, with the types of the columns.

    Raises BadAddress for a value of another type.
    """
    filters = []
    for name, text in address.fixed_values.items():
        kind = columns.field(name).type
        try:
            value = pa.scalar(text).cast(kind).as_py()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise BadAddress(f"the address has {name}={text!r}; expected a {kind}") from error
        filters.append(Filter((Term(name, "is", value),)))
    return filters
