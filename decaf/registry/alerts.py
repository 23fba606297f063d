"""Alerts: tell somebody of a re-audit, by a signed request or a line in a file."""

import hashlib
import hmac
import json
import os
import time
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from pydantic import Field

from decaf.errors import AlertFailed, ConfigError
from decaf.foundation.addresses import Address
from decaf.foundation.calls import Answer, Caller, NoAnswer
from decaf.foundation.files import refusals_as
from decaf.foundation.retries import last_answer
from decaf.foundation.settings import LONGEST_WAIT, PlacedPath, Settings

SIGNATURE, TIMESTAMP, DELIVERY = "X-Decaf-Signature", "X-Decaf-Timestamp", "X-Decaf-Delivery"


class Webhook(Settings):
    """A request with a signed JSON body, sent again until it is answered with 2xx.

    A redirect is a refusal: alerts go to this address alone.
    """

    url: Address = Field(description="`http://` or `https://` address, without credentials")
    secret_variable: str = Field(
        "DECAF_WEBHOOK_SECRET",
        description="environment variable with the secret that bodies are signed with",
    )
    timeout_seconds: float = Field(
        10.0, gt=0, le=LONGEST_WAIT, description="longest silence of the server, s"
    )
    deadline_seconds: float = Field(
        120.0,
        gt=0,
        le=LONGEST_WAIT,
        description="longest time of all attempts and pauses together, s",
    )
    retries: int = Field(
        4,
        ge=0,
        le=1000,
        description="further attempts after no connection, a time-out, 408, 429 or 5xx",
    )
    backoff_seconds: float = Field(
        1.0,
        ge=0,
        le=LONGEST_WAIT,
        description="pause before the first of them; doubled for each further one, s",
    )

    @property
    def secret(self) -> str:
        """What bodies are signed with.

        Raises ConfigError when the variable is not set.
        """
        found = os.environ.get(self.secret_variable)
        if not found:
            raise ConfigError(
                f"'alerts.webhook': environment variable {self.secret_variable} is not set; set it "
                "to the secret that the receiver checks signatures with"
            )
        return found


class Alerts(Settings):
    """Who is told when a gate fails or an entry cannot be audited."""

    webhook: Webhook | None = Field(None, description="address that is sent the alerts")
    file: PlacedPath | None = Field(
        None, description="file to which each re-audit with alerts appends one line of JSON"
    )
    events: bool = Field(True, description="Prefect events, for automations")


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 of ``timestamp.body``: what a receiver compares with the header.

    >>> signature("key", "1", b"{}")[:15]
    'sha256=1ba6b817'
    """
    signed = timestamp.encode() + b"." + body
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def send(webhook: Webhook, delivery: str, content: Mapping[str, Any]) -> None:
    """Send the alerts of one re-audit; the receiver may get a delivery of one name several times.

    Raises AlertFailed when no attempt was answered with 2xx.
    """
    body = json.dumps(content, allow_nan=False).encode()
    caller = Caller(webhook.timeout_seconds)

    def attempt(seconds: float) -> Answer:
        timestamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            TIMESTAMP: timestamp,
            DELIVERY: delivery,
            SIGNATURE: signature(webhook.secret, timestamp, body),
        }
        return caller.call(
            "POST", webhook.url, seconds, most_bytes=0, content=body, headers=headers
        )

    limits = webhook.deadline_seconds, webhook.retries, webhook.backoff_seconds
    try:
        with closing(caller):
            answer = last_answer(attempt, *limits)
        if answer.is_success:
            return
        attempts, reason = answer.attempts, answer.said
    except NoAnswer as error:
        attempts, reason = error.attempts, str(error)
    raise AlertFailed(
        f"webhook {webhook.url} took no alert: {attempts} attempts, the last ended with "
        f"{reason}. The audit is kept; the next decaf reaudit sends the alerts again"
    )


def append(alerts: Alerts, content: Mapping[str, Any]) -> None:
    """Append one line to the file of alerts and flush it to the disk.

    Raises AlertFailed when the file cannot be written.
    """
    remedy = "the audit is kept, and the next decaf reaudit writes them again"
    with refusals_as(AlertFailed, f"file of alerts {alerts.file} cannot be written", remedy):
        alerts.file.parent.mkdir(parents=True, exist_ok=True)
        with alerts.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(content, allow_nan=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
