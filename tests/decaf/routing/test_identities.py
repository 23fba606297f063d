import numpy as np
import pytest

from decaf.errors import ChecksFailed
from decaf.routing.identities import audit_profiles
from decaf.routing.profiles import profile

RESPONSE = [[0.1, -0.2, 0.3], [0.2, 0.1, 0.01]]


@pytest.mark.parametrize("field", ["evidence", "contradiction", "fragility", "abs_response"])
@pytest.mark.parametrize("off", [1e-9, -1e-9, np.nan])
def test_a_profile_that_is_off_fails_with_its_place(field, off):
    p = profile(RESPONSE, [0, 0.5, 1])
    audit_profiles(p)
    getattr(p, field)[1] += off
    with pytest.raises(ChecksFailed, match=r"Abs = E.*1 of 2 .*\(1,\)"):
        audit_profiles(p)


def test_rounding_is_no_failure():
    p = profile(RESPONSE, [0, 0.5, 1])
    p.evidence[0] += 1e-13
    audit_profiles(p)


def test_components_that_add_up_must_not_be_negative():
    p = profile(RESPONSE, [0, 0.5, 1])
    p.evidence[1] += 0.1
    p.contradiction[1] -= 0.1
    with pytest.raises(ChecksFailed, match=r">= 0.*first at \(1,\), off by -0.1"):
        audit_profiles(p)


def test_a_single_profile_is_audited_too():
    p = profile(RESPONSE[0], [0, 0.5, 1])
    audit_profiles(p)
    with pytest.raises(ChecksFailed, match=r"first at \(\)"):
        audit_profiles(p._replace(abs_response=np.float64(1.0)))
