"""A package that is not there: what is said of it, before work begins and where it is used."""

import json
import shlex
import sys

import pytest
from small_studies import of_scenes, untrained

from decaf.errors import BadInput, MissingPackage
from decaf.foundation import extras
from decaf.foundation.extras import PACKAGES, Installed, install_command, missing, optional
from decaf.plan.cluster import CudaWorkers
from decaf.plan.study import Study
from tasks.cluster.workers import connect
from tasks.plan import plan_audit


@pytest.mark.parametrize("extra", PACKAGES)
def test_the_extra_that_brings_a_package_is_named(extra):
    for module in PACKAGES[extra]:
        said = f"package {module} is not installed here; {install_command(extra)}"
        assert str(missing(f"{module}.part")) == said


class Noted:
    """A distribution, with what an installer has noted of where it came from."""

    def __init__(self, url, **more):
        self.text = url and json.dumps({"url": url, **more})

    def read_text(self, name):
        assert name == "direct_url.json"
        return self.text


@pytest.mark.parametrize("is_editable", [False, True])
def test_an_extra_comes_from_the_checkout_that_decaf_came_from(tmp_path, monkeypatch, is_editable):
    checkout = tmp_path / "my checkout"
    checkout.mkdir()
    noted = Noted(checkout.as_uri(), dir_info={"editable": True} if is_editable else {})
    monkeypatch.setattr(extras, "distribution", lambda name: noted)
    assert install_command("zarr") == "pip install 'decaf-audit[zarr]'"  # the folder is another now
    (checkout / "pyproject.toml").touch()
    words = shlex.split(install_command("zarr"))
    assert words[2:] == [*(["-e"] if is_editable else []), f"{checkout}[zarr]"]
    words = shlex.split(install_command("pipeline"))
    assert words[2:] == [str(checkout), str(checkout / "packaging" / "pipeline")]


@pytest.mark.parametrize("url", [None, "https://example.org/decaf_audit-0.1.0-py3-none-any.whl"])
def test_an_extra_comes_from_where_packages_come_from_otherwise(monkeypatch, url):
    monkeypatch.setattr(extras, "distribution", lambda name: Noted(url))
    assert install_command("zarr") == "pip install 'decaf-audit[zarr]'"


def test_a_package_of_a_plug_in_is_named_itself():
    said = "package nests_of_birds is not installed here; pip install nests-of-birds"
    assert str(missing("nests_of_birds")) == said


def test_what_is_not_there_is_told_and_other_errors_are_left():
    with pytest.raises(MissingPackage, match="absent_one is not installed"), optional():
        import absent_one.part  # noqa: F401
    with pytest.raises(ImportError, match="cannot import name"), optional():
        from json import absent  # noqa: F401
    with optional():
        import json  # noqa: F401


def test_a_check_looks_for_the_package_of_a_module():
    assert Installed("json.decoder")() == ()
    with pytest.raises(MissingPackage, match="absent_one"):
        Installed("absent_one.part")()


@pytest.mark.parametrize(
    ("package", "changed"),
    [
        ("captum", {"attributions": {"maps": {"kind": "occlusion"}}}),
        ("shap", {"baselines": {"b": {"kind": "kernel_shap"}}}),
    ],
)
def test_a_study_is_refused_before_any_work(tmp_path, monkeypatch, package, changed):
    monkeypatch.setitem(sys.modules, package, None)
    study = Study(**of_scenes(tmp_path, [untrained(tmp_path, "net")], **changed))
    (name,) = next(iter(changed.values()))
    with pytest.raises(BadInput, match=f"{name}: package {package} ") as refusal:
        plan_audit(study, study.pair_set())
    assert install_command("baselines") in str(refusal.value)


def test_gpu_workers_name_their_extra():
    with (
        pytest.raises(MissingPackage, match="dask_cuda") as refusal,
        connect(CudaWorkers(kind="cuda")),
    ):
        pass
    assert install_command("cuda") in str(refusal.value)
