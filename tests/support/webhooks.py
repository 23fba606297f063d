"""Requests of MLflow's webhooks, made after its documentation."""

import base64
import hashlib
import hmac
import http.client
import json
from contextlib import closing

NOW = 1_800_000_000
SECRET = "between us"
EVENT = {"entity": "model_version", "action": "created", "timestamp": "2027-01-15T08:00:00+00:00"}
EVENT |= {"data": {"name": "net", "version": "2", "source": "models:/1", "run_id": "r"}}


def signed(body, delivery="d1", moment=NOW, secret=SECRET):
    """Headers that MLflow sends with a body."""
    content = f"{delivery}.{moment}.".encode() + body
    digest = hmac.new(secret.encode(), content, hashlib.sha256).digest()
    return {
        "X-MLflow-Signature": f"v1,{base64.b64encode(digest).decode()}",
        "X-MLflow-Delivery-Id": delivery,
        "X-MLflow-Timestamp": str(moment),
    }


BODY = json.dumps(EVENT).encode()


def asked(port, body, headers):
    """Status of the answer to a request."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("POST", "/", body, headers)
        return connection.getresponse().status
