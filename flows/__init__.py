"""Flows of Prefect, each a few verbs long, and the command line."""

from decaf_command import check_packages

check_packages("tasks", "warehouse")
