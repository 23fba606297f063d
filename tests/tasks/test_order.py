"""What an order says of the software that computes it."""

from importlib.metadata import PackageNotFoundError, version

from tasks import order


def test_a_package_of_an_extra_need_not_be_there(monkeypatch):
    def without_lime(name):
        if name == "lime":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(order, "version", without_lime)
    found = order.software.__wrapped__()
    assert "lime" not in found
    assert found["numpy"] == version("numpy")
