"""Needs a library that nobody has."""

import nests_that_nobody_has  # noqa: F401
