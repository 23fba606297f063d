"""A task records the versions of the software that computes it."""

from importlib.metadata import PackageNotFoundError, version

from tasks import make_task


def test_a_package_of_an_extra_need_not_be_there(monkeypatch):
    def version_without_lime(package):
        if package == "lime":
            raise PackageNotFoundError(package)
        return version(package)

    monkeypatch.setattr(make_task, "version", version_without_lime)
    versions = make_task.software.__wrapped__()
    assert "lime" not in versions
    assert versions["numpy"] == version("numpy")
