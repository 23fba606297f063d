"""Members are planned with where torch is not imported: what authors of others are told."""

import pytest

from decaf.contracts.checking import check_planning_imports
from decaf.foundation.plugins import find
from decaf.registry.entries import Registry

REGISTRY = """
from typing import Literal
from decaf.registry.entries import Entry, Registry
class Listed(Registry):
    kind: Literal["listed"]
    def entries(self):
        {text}
        return [Entry("one", "1", "digest", "place")]
    def fetch(self, entry, workspace): pass
"""


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("light_registry", "pass", None),
        ("heavy_registry", "import torch", "torch is imported by heavy_registry, or by what plan"),
        ("wrong_registry", "1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_planning_with_torch_is_told(tmp_path, monkeypatch, name, text, message):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "torch.py").write_text("")  # the real one takes seconds to import
    (tmp_path / f"{name}.py").write_text(REGISTRY.format(text=text))
    problem = check_planning_imports(find(Registry, f"{name}:Listed")).problem
    assert problem is None if message is None else message in problem
