"""Dask cluster of a study, and the state of its workers."""
