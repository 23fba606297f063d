"""Files of the pipeline: above this folder in a checkout, in it in a source archive."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CONTENT = ("configs", "flows", "sql", "tasks", "warehouse")


class PipelineFiles(BuildHookInterface):
    """Add the folders of the pipeline to a wheel or a source archive."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folders, and their places in what is built."""
        here = Path(self.root)
        above = here if (here / "PKG-INFO").exists() else here.parents[1]
        build_data["force_include"] = {str(above / name): name for name in CONTENT}
