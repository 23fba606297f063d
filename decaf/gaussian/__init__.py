"""Gaussian noise with the second moments of the data: reference, geometries, draws.

:mod:`~decaf.gaussian.reference` fits and identifies the moments, :mod:`~decaf.gaussian.storage`
keeps them in a file, :mod:`~decaf.gaussian.geometry` colours standard normals with them,
:mod:`~decaf.gaussian.draws` makes the normals of a named draw, and
:mod:`~decaf.gaussian.information` puts geometries on a common scale.
"""
