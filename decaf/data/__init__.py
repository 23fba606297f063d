"""Data sets: one adapter per module.

An adapter is a settings class (what ``data:`` in a configuration holds) with three methods:

* ``pair_set()`` names the pairs and digests their content, without decoding an image;
* ``verify(pairs)`` raises :class:`decaf.errors.DataError` when inputs cannot be paired;
* ``read_image(image)`` gives one clean input: an image as (height, width, 3) uint8, or a row of
  features as (features,) float32 or float64.

A new module in this package is a new data set; :mod:`decaf.discovery` finds its class.
"""
