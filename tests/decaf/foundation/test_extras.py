"""A package that is not there: what is said of it, before work begins and where it is used."""

import pytest
from ended_commands import refused, succeeded

from decaf.errors import MissingPackage
from decaf.foundation.extras import PACKAGES, Installed, missing, optional


@pytest.mark.parametrize("extra", PACKAGES)
def test_the_extra_that_brings_a_package_is_named(extra):
    for module in PACKAGES[extra]:
        said = f"package {module} is not installed here; pip install 'decaf-audit[{extra}]'"
        assert str(missing(f"{module}.part")) == said


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
def test_a_study_is_refused_before_any_work(decaf, study, write, package, changed):
    path = write(study | changed)
    done = decaf("run", path, SURROUNDINGS=f"without_package={package}")
    name = next(iter(next(iter(changed.values()))))
    refused(done, f"{name}: package {package} is not installed here; pip install 'decaf-audit[base")


def test_gpu_workers_name_their_extra(decaf, study, write, prefect_server):
    done = decaf("run", write(study | {"cluster": {"kind": "cuda"}}), **prefect_server)
    refused(done, "package dask_cuda is not installed here; pip install 'decaf-audit[cuda]'")


def test_the_version_is_said(decaf):
    from decaf import __version__

    assert succeeded(decaf("--version")) == f"decaf {__version__}\n"
