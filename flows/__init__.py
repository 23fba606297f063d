"""Flows of Prefect, each a few verbs long, and the command line."""

from decaf.foundation.pipeline_packages import check_packages

check_packages("tasks", "warehouse")
