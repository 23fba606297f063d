"""Send alerts of a re-audit: by a request, a line in a file, or a command."""

import hashlib
import hmac
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from datetime import timedelta
from tempfile import TemporaryFile
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from decaf.errors import AlertFailed, ConfigError, number_of
from decaf.foundation.addresses import Address
from decaf.foundation.calls import Answer, Caller, NoAnswer
from decaf.foundation.files import convert_os_errors
from decaf.foundation.retries import last_answer
from decaf.foundation.settings import LONGEST_WAIT, PlacedPath, Settings, fault
from decaf.registry.messages import slack, teams

SIGNATURE, TIMESTAMP, DELIVERY = "X-Decaf-Signature", "X-Decaf-Timestamp", "X-Decaf-Delivery"
BODIES = {"slack": slack, "teams": teams}
UNITS = {"h": "hours", "d": "days"}
AGAIN = "the audit is kept, and the next decaf reaudit sends the alerts here again"


class Webhook(Settings):
    """A POST with a JSON body; transient failures are retried.

    A redirect counts as a refusal: alerts go only to this address.
    """

    url: Address = Field(description="`http://` or `https://` address, without credentials")
    format: Literal["decaf", "slack", "teams"] = Field(
        "decaf",
        description="body of a request: decaf's, signed; a Slack message; or an adaptive card for "
        "a Teams workflow",
    )
    secret_variable: str = Field(
        "DECAF_WEBHOOK_SECRET",
        description="environment variable with the secret that signs bodies in format `decaf`",
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
        description="further attempts after no connection, a time-out, 408, 425, 429 or 5xx",
    )
    backoff_seconds: float = Field(
        1.0,
        ge=0,
        le=LONGEST_WAIT,
        description="pause before the first of them; doubled for each further one, s",
    )

    @property
    def short_address(self) -> str:
        """Address for messages; of Slack and Teams only the host.

        Their whole address gives write access.
        """
        parts = urlsplit(self.url)
        whole = self.format == "decaf"
        return f"webhook {self.url if whole else f'{parts.scheme}://{parts.netloc}/…'}"

    @property
    def secret(self) -> str:
        """Key that signs bodies; empty for unsigned bodies.

        Raises ConfigError when the variable is not set.
        """
        if self.format != "decaf":
            return ""
        key = os.environ.get(self.secret_variable)
        if not key:
            raise ConfigError(
                f"'alerts.webhook': environment variable {self.secret_variable} is not set; set it "
                "to the secret that the receiver checks signatures with"
            )
        return key


class Alerts(Settings):
    """Receivers of alerts: a gate failed or an entry cannot be audited."""

    webhook: tuple[Webhook, ...] = Field(
        (), description="address that receives the alerts, or a list of addresses"
    )
    file: PlacedPath | None = Field(
        None, description="file to which each re-audit with alerts appends one line of JSON"
    )
    command: tuple[str, ...] | None = Field(
        None,
        min_length=1,
        description="program and arguments, run without a shell with the alerts as JSON on its "
        "standard input; any exit code but 0 is a failure",
    )
    command_seconds: float = Field(
        60.0, gt=0, le=LONGEST_WAIT, description="longest time of the command, s"
    )
    events: bool = Field(True, description="Prefect events, for automations")
    remind: str | None = Field(
        None,
        pattern=r"^[1-9]\d{0,3}[hd]$",
        description="time after which a standing failure is sent again, as `7d` or `12h`; never "
        "when absent",
    )
    report_url: Address | None = Field(
        None, description="address of the report for messages; when absent, messages name its file"
    )

    @field_validator("webhook", mode="before")
    @classmethod
    def _wrap_single_webhook(cls, given: Any) -> Any:
        webhooks = given if isinstance(given, list | tuple) else [given]
        if any(isinstance(webhook, str) for webhook in webhooks):
            raise fault(
                'expected an entry such as {url: "https://alerts.example/decaf"} instead of a text'
            )
        return (given,) if isinstance(given, dict | Webhook) else given or ()

    @property
    def has_receivers(self) -> bool:
        """True if there is a webhook, a file or a command."""
        return bool(self.webhook or self.file or self.command)

    def describe_delivery(self, count: int, *, has_events: bool = False) -> str:
        """Name the receivers that took ``count`` alerts; empty without alerts and receivers.

        With ``has_events``, alerts without a receiver were emitted as Prefect events; decaf does
        not learn whether an automation took them.
        """
        receivers = [webhook.short_address for webhook in self.webhook]
        receivers += [f"file {self.file}"] if self.file else []
        receivers += [f"command {self.command[0]}"] if self.command else []
        if not receivers:
            missing = "'alerts:' of the study names no webhook, file or command"
            fate = "emitted only as Prefect events" if has_events else "not sent"
            return f"{number_of(count, 'alert')} {fate}: {missing}" if count else ""
        if not count:
            return "no alert was due"
        return f"{number_of(count, 'alert')} delivered to {', '.join(receivers)}"

    @property
    def reminder(self) -> timedelta | None:
        """Time after which decaf sends the alert of a standing verdict again."""
        if not self.remind:
            return None
        return timedelta(**{UNITS[self.remind[-1]]: int(self.remind[:-1])})


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 of ``timestamp.body``, for a receiver to compare with the header.

    >>> signature("key", "1", b"{}")[:15]
    'sha256=1ba6b817'
    """
    signed = timestamp.encode() + b"." + body
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def send(webhook: Webhook, delivery: str, content: Mapping[str, Any]) -> None:
    """Send the alerts of one re-audit; the receiver may get a delivery of one name several times.

    Raises AlertFailed when no attempt was answered with 2xx.
    """
    alert = BODIES[webhook.format](content) if webhook.format in BODIES else content
    body = json.dumps(alert, allow_nan=False).encode()
    caller = Caller(webhook.timeout_seconds)

    def attempt(seconds: float) -> Answer:
        timestamp = str(int(time.time()))
        headers = {"Content-Type": "application/json", TIMESTAMP: timestamp, DELIVERY: delivery}
        if secret := webhook.secret:
            headers[SIGNATURE] = signature(secret, timestamp, body)
        return caller.call(
            "POST", webhook.url, seconds, most_bytes=0, content=body, headers=headers
        )

    limits = webhook.deadline_seconds, webhook.retries, webhook.backoff_seconds
    try:
        with closing(caller):
            answer = last_answer(attempt, *limits)
        if answer.is_success:
            return
        attempts, reason = answer.attempts, answer.status_text
    except NoAnswer as error:
        attempts, reason = error.attempts, str(error)
    raise AlertFailed(
        f"alert to {webhook.short_address} failed after {number_of(attempts, 'attempt')}; last "
        f"error: {reason}; {AGAIN}"
    )


def append(alerts: Alerts, content: Mapping[str, Any]) -> None:
    """Append one line to the file of alerts and flush it to the disk.

    Raises AlertFailed when the file cannot be written.
    """
    place = cast("PlacedPath", alerts.file)
    with convert_os_errors(AlertFailed, f"file of alerts {place} cannot be written", AGAIN):
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("a", encoding="utf-8") as file:
            file.write(json.dumps(content, allow_nan=False) + "\n")
            file.flush()
            os.fsync(file.fileno())


def run(alerts: Alerts, content: Mapping[str, Any]) -> None:
    """Run the command with the alerts on its standard input, and end all its processes.

    Raises AlertFailed when it cannot be started, fails, or takes too long.
    """
    command = cast("tuple[str, ...]", alerts.command)
    program = command[0]
    failed = convert_os_errors(AlertFailed, f"command of alerts {program} cannot be started", AGAIN)
    with TemporaryFile() as body, failed:
        body.write(json.dumps(content, allow_nan=False).encode())
        body.seek(0)
        process = subprocess.Popen(
            command, stdin=body, stdout=subprocess.DEVNULL, start_new_session=True
        )
    try:
        process.wait(alerts.command_seconds)
        ended = f"ended with exit code {process.returncode}"
    except subprocess.TimeoutExpired:
        ended = f"took longer than {alerts.command_seconds:g} s"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.returncode != 0:
        raise AlertFailed(f"command of alerts {program} {ended}; {AGAIN}")


def faults(alerts: Alerts) -> Iterator[str]:
    """Yield a sentence for each receiver that cannot be reached or has no secret; send nothing."""
    for webhook in alerts.webhook:
        try:
            _ = webhook.secret
        except ConfigError as error:
            yield str(error)
        try:
            with closing(Caller(webhook.timeout_seconds)) as caller:
                caller.call("HEAD", webhook.url, webhook.deadline_seconds, most_bytes=0)
        except NoAnswer as error:
            yield f"{webhook.short_address} does not answer: {error}"
    if alerts.file is not None:
        nearest = next(path for path in (alerts.file, *alerts.file.parents) if path.exists())
        problem = ""
        if nearest.is_dir() == (nearest == alerts.file):
            problem = f"{nearest} is in its way"
        elif not os.access(nearest, os.W_OK):
            problem = f"no right to write to {nearest}"
        if problem:
            yield f"file of alerts {alerts.file} cannot be written: {problem}"
    if alerts.command is not None and shutil.which(alerts.command[0]) is None:
        yield (
            f"command of alerts {alerts.command[0]} was not found, or cannot be run; correct the "
            "program's name"
        )
