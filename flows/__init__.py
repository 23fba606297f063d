"""Flows of Prefect, each a few verbs long, and the command line."""
