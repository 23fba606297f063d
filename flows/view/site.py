"""Pages of ``decaf view`` as a Starlette application: its addresses, their answers and errors."""

import time
from contextlib import suppress
from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from decaf import __version__
from decaf.errors import DecafError, WarehouseError
from flows.view import content
from flows.view.addresses import Address, BadAddress, parse_address
from flows.view.declared import PAGES
from flows.view.snapshot import Snapshot
from flows.view.tables import columns_of, read_rows, read_study
from flows.view.trajectories import PAGE as TRAJECTORY
from flows.view.trajectories import Trajectory, read_trajectory
from warehouse.query.catalog import Rows
from warehouse.query.formats import SPREADSHEET, write_rows
from warehouse.report import templates
from warehouse.storage import Storage

HOSTS = ("127.0.0.1", "localhost")
"""Host names that requests may have; another site that resolves to this machine has another."""
SCRIPT = templates.read_text("card.js") + templates.read_text("view/view.js")
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": f"{templates.policy_of(SCRIPT)}; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
MODELS = "models"
MOST_AHEAD = 20
"""Studies whose models are read ahead."""
PAUSE_SECONDS = 0.05
"""Time between two of these studies, in which a waiting visitor gets the connection."""
OWN_SITES = (None, "none", "same-origin")
"""Values of Sec-Fetch-Site in requests that no other site caused."""


class Site:
    """Pages of the newest snapshot of a warehouse, for concurrent requests.

    Raises WarehouseError if the warehouse cannot be opened.
    """

    def __init__(self, store: Storage) -> None:
        self._store = store
        self._snapshot = Snapshot(store)

    def application(self) -> Starlette:
        """Make the application that answers requests."""
        return Starlette(
            routes=[
                Route("/", self._show_home),
                Route("/renew", self._renew, methods=["POST"]),
                Route(f"/{TRAJECTORY}.csv", self._send_trajectory),
                Route(f"/{TRAJECTORY}", self._show_trajectory),
                Route("/{page}.csv", self._send_table),
                Route("/{page}", self._show_table),
            ],
            middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)],
            exception_handlers={
                HTTPException: self._show_status,
                BadAddress: self._show_bad_address,
                WarehouseError: self._show_unavailable,
                DecafError: self._show_failure,
                Exception: self._show_fault,
            },
        )

    def read_ahead(self) -> None:
        """Read the models of the newest studies, which take longest, before a visitor asks.

        Other pages answer meanwhile; a page of models waits for the study that is being read. The
        pages show errors. Ends early when the warehouse is opened again.
        """
        snapshot = self._snapshot
        with suppress(DecafError):
            studies = read_rows(snapshot, Address("studies")).answer["study"].to_pylist()
            for study in studies[:MOST_AHEAD]:
                if snapshot is not self._snapshot:
                    return
                read_study(snapshot, MODELS, study)
                time.sleep(PAUSE_SECONDS)

    def _show_home(self, request: Request) -> Response:
        return RedirectResponse("/studies", headers=HEADERS)

    def _renew(self, request: Request) -> Response:
        """Open the warehouse again, and redirect to the page of the request."""
        back = request.query_params.get("back", "/studies")
        if request.headers.get("sec-fetch-site") not in OWN_SITES:
            raise HTTPException(
                HTTPStatus.FORBIDDEN,
                "decaf refuses this request because it came from another site; open the page here "
                "and use its button",
            )
        if not back.startswith("/") or back.startswith(("//", "/\\")):
            raise BadAddress(f"the address leads back to {back!r}; expected a page of this site")
        self._snapshot = Snapshot(self._store)
        task = BackgroundTask(self.read_ahead)
        return RedirectResponse(back, HTTPStatus.SEE_OTHER, HEADERS, background=task)

    def _show_table(self, request: Request) -> Response:
        snapshot = self._snapshot
        rows = read_rows(snapshot, self._table_address(snapshot, request))
        values = content.table_values(snapshot, rows)
        return self._page(request, snapshot, "table", page=rows.page.name, **values)

    def _send_table(self, request: Request) -> Response:
        snapshot = self._snapshot
        rows = read_rows(snapshot, self._table_address(snapshot, request))
        return _csv(rows.answer, rows.page.name)

    def _table_address(self, snapshot: Snapshot, request: Request) -> Address:
        name = request.path_params["page"]
        if name not in PAGES:
            raise HTTPException(HTTPStatus.NOT_FOUND, f"there is no page {name!r}")
        columns = columns_of(snapshot, PAGES[name], request.query_params.get("study"))
        return parse_address(name, request.query_params.multi_items(), columns)

    def _show_trajectory(self, request: Request) -> Response:
        snapshot = self._snapshot
        trajectory = self._trajectory(snapshot, request)
        values = content.trajectory_values(snapshot, trajectory)
        return self._page(request, snapshot, TRAJECTORY, page=TRAJECTORY, **values)

    def _send_trajectory(self, request: Request) -> Response:
        trajectory = self._trajectory(self._snapshot, request)
        return _csv(trajectory.answer, TRAJECTORY)

    def _trajectory(self, snapshot: Snapshot, request: Request) -> Trajectory:
        columns = snapshot.columns_of(TRAJECTORY)
        address = parse_address(TRAJECTORY, request.query_params.multi_items(), columns)
        trajectory = read_trajectory(snapshot, address)
        if trajectory is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, "the warehouse has no such trajectory")
        return trajectory

    def _show_status(self, request: Request, error: HTTPException) -> Response:
        return self._error(request, HTTPStatus(error.status_code), error.detail)

    def _show_bad_address(self, request: Request, error: BadAddress) -> Response:
        return self._error(request, HTTPStatus.BAD_REQUEST, str(error))

    def _show_unavailable(self, request: Request, error: WarehouseError) -> Response:
        return self._error(request, HTTPStatus.SERVICE_UNAVAILABLE, str(error))

    def _show_failure(self, request: Request, error: DecafError) -> Response:
        return self._error(request, HTTPStatus.INTERNAL_SERVER_ERROR, str(error))

    def _show_fault(self, request: Request, error: Exception) -> Response:
        text = "The page failed; the terminal of decaf view has the details."
        return self._error(request, HTTPStatus.INTERNAL_SERVER_ERROR, text)

    def _error(self, request: Request, status: HTTPStatus, message: str) -> Response:
        return self._page(
            request,
            self._snapshot,
            "error",
            status,
            page="",
            title="This page cannot be shown",
            message=message,
            status=f"{status.value} {status.phrase}",
        )

    def _page(
        self,
        request: Request,
        snapshot: Snapshot,
        template: str,
        code: HTTPStatus = HTTPStatus.OK,
        **values: Any,
    ) -> Response:
        back = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        page = templates.render(
            f"view/{template}.html.j2",
            damage=snapshot.damage,
            moment=snapshot.moment,
            pages=[
                *(("studies", "Studies"), ("runs", "Runs")),
                *([("entries", "Registry")] if snapshot.registries else []),
            ],
            renew=f"/renew?{urlencode({'back': back})}",
            root=snapshot.store.address,
            script=SCRIPT,
            version=__version__,
            **values,
        )
        return Response(page, code, HEADERS, "text/html; charset=utf-8")


def _csv(rows: pa.Table, name: str) -> Response:
    """Rows as a file that is safe in spreadsheets."""
    sink = BytesIO()
    write_rows(Rows(rows.schema, iter(rows.to_batches())), SPREADSHEET, sink)
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}.csv"'}
    return Response(sink.getvalue(), headers=headers, media_type="text/csv; charset=utf-8")
