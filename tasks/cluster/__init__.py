"""The Dask cluster of a study, and what its workers hold."""
