import numpy as np
import pytest

from decaf.errors import ChecksFailed, ResponseError
from decaf.routing.identities import audit_components, audit_profiles
from decaf.routing.profiles import profile
from decaf.routing.route import route

RESPONSE = [[0.1, -0.2, 0.3], [0.2, 0.1, 0.01]]


def test_what_the_kernel_returns_passes():
    audit_components(route(RESPONSE), RESPONSE)
    audit_profiles(profile(RESPONSE, [0, 0.5, 1]))


@pytest.mark.parametrize("field", ["e", "c", "f"])
@pytest.mark.parametrize("off", [1e-9, -1e-9, np.nan])
def test_a_component_that_is_off_fails_with_its_place(field, off):
    components = route(RESPONSE)
    getattr(components, field)[1, 2] += off
    with pytest.raises(ChecksFailed, match=r"e \+ c \+ f.*1 of 6 values.*\(1, 2\)"):
        audit_components(components, RESPONSE)


def test_rounding_is_no_failure():
    components = route(RESPONSE)
    components.e[0, 0] += 1e-13
    components.c[0, 0] -= 1e-13
    audit_components(components, RESPONSE)


def test_components_that_add_up_must_not_be_negative():
    components = route(RESPONSE)
    components.e[0, 0] += 0.1
    components.c[0, 0] -= 0.1
    with pytest.raises(ChecksFailed, match=r"negative.*\(0, 0\), off by -0.1"):
        audit_components(components, RESPONSE)


def test_components_have_the_shape_of_the_response():
    with pytest.raises(ResponseError, match="shapes"):
        audit_components(route(RESPONSE), RESPONSE[0])


@pytest.mark.parametrize(
    ("field", "identity"),
    [
        ("evidence", "Abs ="),
        ("contradiction", "Abs ="),
        ("fragility", "Abs ="),
        ("abs_response", "Abs ="),
    ],
)
def test_a_profile_that_is_off_fails(field, identity):
    p = profile(RESPONSE, [0, 0.5, 1])
    getattr(p, field)[1] += 1e-9
    with pytest.raises(ChecksFailed, match=rf"{identity}.*1 of 2 values, the first at \(1,\)"):
        audit_profiles(p)


def test_a_single_profile_is_audited_too():
    p = profile(RESPONSE[0], [0, 0.5, 1])
    audit_profiles(p)
    with pytest.raises(ChecksFailed, match=r"first at \(\)"):
        audit_profiles(p._replace(abs_response=np.float64(1.0)))
