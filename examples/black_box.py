"""Audit a model that is only known by its web address.

    python examples/black_box.py FOLDER

decaf needs nothing but scores: no weights, no gradients. Here a server in this very script stands
for somebody else's model; what it computes is hidden behind HTTP. A plain function asks it, and
counts the requests, which is what such a model costs.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import numpy as np

import decaf


class SomebodysModel(BaseHTTPRequestHandler):
    """Approves loans: POST {"rows": [[income, debt, age], …]} → {"scores": […]}."""

    def do_POST(self) -> None:
        """Answer with one probability for each row."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        income, debt, age = np.array(json.loads(body)["rows"]).T
        # Debt counts against a small income and, oddly, for a large one; age does not count.
        logit = income - 1.5 * debt * np.where(income < 2, 1, -1) + 0 * age
        answer = json.dumps({"scores": (1 / (1 + np.exp(-logit))).tolist()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *message: object) -> None:
        """Keep the terminal for the results."""


@contextmanager
def served() -> Iterator[str]:
    """Address of the model, as long as it is needed."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), SomebodysModel)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def main(folder: Path) -> None:
    """Ask what paying off a debt changes, and write the charts."""
    rng = np.random.default_rng(0)
    in_debt = np.column_stack(
        [rng.uniform(0, 4, 40), rng.uniform(0.5, 2, 40), rng.uniform(20, 70, 40)]
    )
    paid_off = in_debt * [1, 0, 1]

    with served() as address, httpx.Client(timeout=10, trust_env=False) as client:
        requests = 0

        def approval(rows: np.ndarray) -> list[float]:
            """The score: a batch of rows in, as many probabilities out."""
            nonlocal requests
            requests += 1
            answer = client.post(address, json={"rows": rows.tolist()})
            answer.raise_for_status()
            return answer.json()["scores"]

        # The batch size is the number of rows in a request.
        audited = decaf.audit(approval, paid_off, in_debt, batch_size=100)
        print(audited.summary())
        print(
            f"\n{requests} requests with {audited.forward_rows} rows; asking for every stage of "
            f"every pair would be {audited.naive_rows}"
        )

        # Another threshold needs no new scores.
        audited.at(0.1)
        print(f"after another threshold still {requests} requests")

        audited.plot_mean().save(folder / "black-box-mean.html", inline=True)

        # Would paying off mean the same to somebody with another income? The context path asks
        # for four rows of each pair: before and after, with this income and with the other.
        other = [applicants.copy() for applicants in (paid_off, in_debt)]
        for applicants in other:
            applicants[:, 0] = 4 - applicants[:, 0]
        elsewhere = decaf.audit(approval, paid_off, in_debt, context=tuple(other))
        print(f"\nfrom the other income to this one:\n{elsewhere.summary()}")
        elsewhere.plot(int(elsewhere.profiles.contradiction.argmax())).save(
            folder / "black-box-pair.html", inline=True
        )

        # Which features does each answer depend on, compared with a typical applicant?
        typical = tuple(in_debt.mean(axis=0))
        features = decaf.audit(approval, in_debt, path=decaf.Removal(value=typical), stages=5)
        evidence, contradiction = (
            features.attributions(metric).mean(axis=0) for metric in ("evidence", "contradiction")
        )
        print()
        for name, E, C in zip(("income", "debt", "age"), evidence, contradiction, strict=True):
            print(f"{name:<7}evidence {E:.4f}, contradiction {C:.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
