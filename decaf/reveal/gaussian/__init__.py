"""Gaussian noise with the second moments of the data: reference, geometries, draws.

* :mod:`~decaf.reveal.gaussian.reference` fits and identifies the moments;
* :mod:`~decaf.reveal.gaussian.storage` keeps them in a file;
* :mod:`~decaf.reveal.gaussian.geometry` colours standard normals with them;
* :mod:`~decaf.reveal.gaussian.draws` makes the normals of a named draw;
* :mod:`~decaf.reveal.gaussian.information` puts geometries on a common scale.
"""
