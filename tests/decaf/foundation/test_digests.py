import pytest

from decaf.foundation import digests
from decaf.foundation.digests import json_list_sha256, json_sha256


@pytest.mark.parametrize("count", [0, 1, 3, 4, 9])
@pytest.mark.parametrize("others", [(), ("z", {"b": 1, "a": None})])
def test_a_long_list_has_the_digest_of_its_json(monkeypatch, count, others):
    monkeypatch.setattr(digests, "AT_ONCE", 4)
    texts = [f'größe "{number}"' for number in range(count)]
    found = json_list_sha256("study", iter(texts), *others)
    assert found == json_sha256(["study", texts, *others])
