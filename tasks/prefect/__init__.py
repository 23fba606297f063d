"""Prefect: the steps of the flows as its tasks, and its server."""
