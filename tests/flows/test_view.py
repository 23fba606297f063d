"""`decaf view`: its pages as a browser asks for them."""

import csv
import io
import re
import shlex
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import pytest
from ended_commands import refused, succeeded
from planned_units import STARTED, commit_run
from report_reader import Reader
from scenes_warehouse import MODELS, PATHS, SCENES, scenes_warehouse
from starlette.testclient import TestClient

from decaf.errors import DecafError, QueryError
from flows.view.site import SCRIPT, Site
from warehouse import storage

PAIR = {"study": "demo", "model_id": MODELS[0], "pair_id": "scene-0__wall_hue", "path": "blend"}
TRAJECTORY = f"/trajectory?{urlencode({**PAIR, 'repetition': 0})}"
HOSTILE = (
    "<script>window.hostile=1</script>",
    '"><img src=x onerror="window.hostile=1">',
    "</style></title><svg onload=window.hostile=1>",
    "javascript:window.hostile=1",
    "' onmouseover='window.hostile=1",
    "{{7*7}} {% raw %} %s",
    "'; DROP TABLE x; -- $study ?",
    '=HYPERLINK("http://x.example","x")',
    "a&b=c#d?e/f%00+g",
    "&lt;script&gt;&#60;&amp;",
    "''\"\"\\",
    "NULL",
    "\u05e9\u05dc\u05d5\u05dd",
    "x" * 400,
)


class Page(Reader):
    """A page of the view: its links by class or relation, and whole texts of cells."""

    def __init__(self, text):
        self.links = []
        super().__init__(text)

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        if tag == "a":
            self.links.append(dict(attrs))

    def handle_data(self, data):
        if {"th", "td"} & {*self._open}:
            self.rows[-1][-1] += f" {data}"
            self.words.append(data)
        else:
            super().handle_data(data)

    def link(self, part, **attributes):
        """Address of the first link that contains a part and has these attributes."""
        fitting = (link["href"] for link in self.links if attributes.items() <= link.items())
        return next(href for href in fitting if part in href)

    def column(self, name):
        """Texts of the cells under a heading, without its unit."""
        texts = [[" ".join(cell.split()) for cell in row] for row in self.rows]
        place = next(i for i, head in enumerate(texts[0]) if head.removesuffix(" score") == name)
        return [row[place] for row in texts[1:]]


def client_of(root):
    return TestClient(
        Site(storage.open(root)).application(), "http://127.0.0.1", follow_redirects=False
    )


@pytest.fixture(scope="module")
def client(scenes):
    return client_of(scenes)


def shown(client, address):
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def test_rows_lead_from_a_study_to_one_trajectory(client):
    assert client.get("/").headers["location"] == "/studies"
    page = shown(client, "/studies")
    for name in ("models", "responses", "pairs", "trajectory"):
        page = shown(client, page.link(f"/{name}?study=demo"))
    assert page.link("/trajectory.csv?")
    assert page.column("t") == ["0", "0.25", "0.5", "1"]


def test_models_begin_with_the_largest_response_of_the_worst_rule(client):
    records = csv.DictReader(io.StringIO(client.get("/models.csv?study=demo").text))
    rows = [(int(record["severity"]), float(record["abs_response"])) for record in records]
    assert len(rows) > 1
    assert rows == sorted(rows, key=lambda row: (row[0], -row[1]))


def test_models_of_a_study_have_verdict_rows_in_the_order_of_the_table(client):
    page = shown(client, "/models?study=demo&sort=-model_id")
    models = [cell.split()[0] for cell in page.column("Model")]
    assert len(models) > 1
    verdicts = re.findall(r'<li class="verdict">.*?<h3>(\S+?)[ <].*?</li>', page.page, re.DOTALL)
    assert verdicts == models
    top = shown(client, f"/responses?study=demo&model_id={models[0]}").column("Abs")[0]
    assert f"<b>{top}</b>" in page.page
    assert '<li class="verdict">' not in shown(client, "/models").page


def test_models_and_responses_show_m_before_the_parts(client):
    for name in ("models", "responses"):
        page = shown(client, f"/{name}?study=demo&sort=-abs_response")
        records = csv.DictReader(
            io.StringIO(client.get(f"/{name}.csv?study=demo&sort=-abs_response").text)
        )
        sizes = [float(record["endpoint_magnitude"]) for record in records]
        assert [float(cell) for cell in page.column("M")] == pytest.approx(sizes, abs=6e-4)
        heading = [cell.split()[0] for cell in page.rows[0]]
        assert heading.index("M") < heading.index("Abs")


def test_a_trajectory_has_its_card_values_models_and_other_path(client):
    # Responses 0, -0.5, -0.5, 0.0205 at 0, 0.25, 0.5, 1: C = 0.0625 + 0.125 + 0.125 = 0.3125,
    # E = 0.25 * 0.0205 = 0.005125, together 0.317625.
    page = shown(client, TRAJECTORY)
    assert page.column("response") == ["0", "−0.500", "−0.500", "+0.021"]
    roles = [" ".join(row[-1].split()) for row in page.rows[1:]]
    assert roles == ["– no response", "C contradiction", "C contradiction", "E evidence"]
    sums = ("C 0.312", "C 0.313")  # the last digit is a matter of rounding
    assert any(f"E 0.005 + {sum_} + F 0 = Abs 0.318" in page.text for sum_ in sums)
    assert page.tags.count("polygon") >= 2
    assert "second stage" not in page.text  # four stages cannot be halved
    for model in MODELS:
        assert page.link(f"/trajectory?study=demo&model_id={model}&pair_id=scene-0__wall_hue")
    assert page.link("path=patch")


def test_neighbours_lead_through_all_pairs_of_a_path_and_end(client):
    about = {"study": "demo", "model_id": MODELS[0], "pair_type": "wall_hue", "path": "blend"}
    table = shown(client, f"/pairs?{urlencode(about)}")
    page, seen = shown(client, table.link("/trajectory?")), 1
    with pytest.raises(StopIteration):
        page.link("/trajectory?", rel="prev")
    while any(link.get("rel") == "next" for link in page.links):
        page, seen = shown(client, page.link("/trajectory?", rel="next")), seen + 1
    assert seen == len(SCENES)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", 32),
        ("scene-0", 8),
        ("SCENE-0 shape", 4),
        ("path:patch", 16),
        ("type:hue", 16),
        ('type:"wall hue"', 16),  # by its display name
        ("model:wall99 scene-1", 4),
        ("abs>=0", 32),
        ("abs<0", 0),
        ("repetition:0", 32),
        ("role:evid role:contra", 0),
        ("100%", 0),
        ("' OR 1=1", 0),
    ],
)
def test_all_words_of_a_filter_must_fit(client, words, expected):
    page = shown(client, f"/pairs?{urlencode({'q': words})}")
    assert max(0, len(page.rows) - 1) == expected


@pytest.mark.parametrize(
    "address",
    [
        "/pairs?repetition=often",
        "/pairs?strange=1",
        "/pairs?study=demo&study=demo",
        "/pairs?page=0",
        "/pairs?page=2",
        "/pairs?page=1e3",
        "/pairs?sort=strange",
        "/pairs?column=strange",
        "/pairs?q=abs%3Emuch",
        "/pairs?q=abs%3Enan",
        "/pairs?q=strange:1",
        "/pairs?q=path%3E1",
        "/trajectory",
        "/trajectory?study=demo",
        f"{TRAJECTORY}&stage=1",
    ],
)
def test_an_address_that_no_row_can_have_is_refused(client, address):
    for ending in ("", ".csv"):
        path, _, query = address.partition("?")
        answer = client.get(f"{path}{ending}?{query}")
        assert answer.status_code == 400
        assert "Traceback" not in answer.text
        assert answer.headers["content-security-policy"]
        Page(answer.text)


def test_pages_and_trajectories_that_are_not_there(client):
    for address in ("/strange", "/strange.csv", "/pairs/deeper", TRAJECTORY.replace("e-0", "e-9")):
        answer = client.get(address)
        assert answer.status_code == 404
        Page(answer.text)
    assert client.post("/pairs").status_code == 405
    assert "Nothing is here yet" in shown(client, "/pairs?study=nobodys").text


def test_columns_sort_by_their_links_in_both_orders(client):
    page = shown(client, "/pairs?study=demo&path=blend")
    falling = [float(text) for text in page.column("Abs")]
    assert falling == sorted(falling, reverse=True)
    assert len({*falling}) > 10
    rising = shown(client, page.link("sort=abs_response"))
    assert [float(text) for text in rising.column("Abs")] == falling[::-1]
    assert shown(client, rising.link("sort=-abs_response")).rows == page.rows
    names = shown(client, page.link("sort=pair_id")).column("Pair")
    assert names == sorted(names)


def test_columns_are_chosen_and_kept_by_links(client):
    page = shown(client, "/pairs?study=demo&column=path&column=class_id")
    heads = [" ".join(head.split()).split(" ")[0] for head in page.rows[0]]
    assert heads == ["Pair", "Path", "Class"]
    assert "column=path&column=class_id" in page.link("sort=-class_id")


def test_roles_are_counted_and_restrict_the_page(client):
    page = shown(client, "/pairs?study=demo")
    counts = {
        role: len(shown(client, page.link(f"role={role}")).rows) - 1
        for role in ("evidence", "contradiction")
    }
    assert all(f"{role} {count}" in page.text for role, count in counts.items())
    sent = client.get("/pairs.csv?study=demo&role=contradiction").text
    roles = [row["role"] for row in csv.DictReader(io.StringIO(sent))]
    assert roles == ["contradiction"] * counts["contradiction"]


def test_the_command_that_is_shown_gives_the_rows_that_are_shown(client, decaf):
    for address in (
        "/pairs?study=demo&path=blend&q=scene-0+abs%3E0",
        f"/models?{urlencode({'study': 'demo', 'q': 'wall99'})}",
        TRAJECTORY,
    ):
        page = shown(client, address)
        (command,) = page.queries
        answer = succeeded(decaf(*shlex.split(command)[1:], "--format", "csv"))
        path, _, query = address.partition("?")
        sent = client.get(f"{path}.csv?{query}")
        assert [*csv.reader(io.StringIO(answer))] == [*csv.reader(io.StringIO(sent.text))]
        assert len(page.rows) == len(answer.splitlines()) > 1


def test_a_page_says_where_it_is_and_leads_to_its_siblings(client):
    page = shown(client, f"/pairs?study=demo&model_id={MODELS[0]}&pair_type=shape&path=patch")
    for part in ("model_id=small_cnn.wall99", "pair_type=wall_hue", "path=blend", "/responses?"):
        assert page.link(part)
    unmoved = shown(client, page.link("role=none")).rows[1:]
    assert f"in {len(unmoved) or 'all 4'}" in page.text


def test_only_loopback_names_are_answered(client):
    assert client.get("/studies", headers={"Host": "localhost:8501"}).status_code == 200
    for host in ("evil.example", "127.0.0.1.evil.example", "0.0.0.0", ""):
        answer = client.get("/studies", headers={"Host": host})
        assert answer.status_code == 400
        assert "demo" not in answer.text


def test_the_policy_allows_no_script_but_the_own(client):
    answer = client.get(TRAJECTORY)
    policy = answer.headers["content-security-policy"]
    for rule in ("default-src 'none'", "script-src 'sha256-", "frame-ancestors 'none'"):
        assert rule in policy
    assert re.findall("<script>(.*?)</script>", answer.text, re.DOTALL) == [SCRIPT]
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_names_that_somebody_else_chose_are_shown_as_they_are(tmp_path):
    client = client_of(scenes_warehouse(tmp_path / "warehouse", HOSTILE).folder)
    about = f"/pairs?study=demo&model_id={MODELS[0]}&path=blend&pair_type=shape"
    page = shown(client, about)
    assert {name.removesuffix(" copy id") for name in page.column("Pair")} == {
        " ".join(f"{name}__shape".split()) for name in HOSTILE
    }
    tags = {"script": 1, "img": 0}  # the script is our own
    for name in (*HOSTILE[:4], HOSTILE[8]):
        link = page.link(urlencode({"pair_id": f"{name}__shape"}))
        one = shown(client, link)
        assert {tag: one.tags.count(tag) for tag in tags} == tags
        assert one.rows
        assert f"{name}__shape" in one.text
    rows = client.get(about.replace("/pairs", "/pairs.csv")).text
    assert "'=HYPERLINK" in rows
    assert not re.search("(?m)^=|,=", rows)
    for name in HOSTILE[:2]:
        of_source = shown(client, f"/pairs?{urlencode({'source_id': name, 'path': 'blend'})}")
        assert len(of_source.rows) == 1 + 4  # two models and two changes
        assert client.get(f"/pairs?{urlencode({name: name})}").status_code == 400


def test_renew_sees_what_was_committed_since(tmp_path):
    store = scenes_warehouse(tmp_path / "warehouse")
    client = client_of(store.folder)
    before = shown(client, "/runs").rows
    run = {"run_id": "later", "epsilon": 0.5, "started_at": STARTED}
    models, paths = [{"model_id": "m", "family": "f"}], [{"path": "blend", "t": [0.0, 1.0]}]
    commit_run(store, "second", run, [], models, paths)
    assert shown(client, "/runs").rows == before
    answer = client.post("/renew?back=/runs%3Fstudy%3Ddemo")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs?study=demo")
    assert len(shown(client, "/runs").rows) == len(before) + 1
    assert {*shown(client, "/studies").column("Study")} == {"demo", "second"}
    for back in ("//evil.example", "https://evil.example", "/\\evil.example"):
        assert client.post(f"/renew?{urlencode({'back': back})}").status_code == 400
    answer = client.post("/renew", headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    assert client.get("/renew").status_code in (404, 405)


def test_a_damaged_warehouse_is_named_and_the_whole_part_is_shown(tmp_path):
    root = scenes_warehouse(tmp_path / "warehouse").folder
    files = [*root.rglob("*.parquet")]
    gone = next(path for path in files if "trajectories" in path.parts)
    gone.unlink()
    client = client_of(root)
    assert gone.name in shown(client, "/pairs").text
    cut = next(path for path in files if "profiles" in path.parts)
    cut.write_bytes(b"PAR1")
    answer = client.get("/pairs?study=demo")
    assert answer.status_code == 503
    assert cut.name in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("error", [QueryError("more memory"), ValueError("a secret")])
def test_a_failure_is_a_page_without_its_traceback(scenes, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr("flows.view.content.table_values", fail)
    application = Site(storage.open(scenes)).application()
    client = TestClient(application, "http://127.0.0.1", raise_server_exceptions=False)
    answer = client.get("/studies")
    assert answer.status_code == 500
    assert ("more memory" in answer.text) == isinstance(error, DecafError)
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


def test_visitors_at_the_same_time_get_the_same_rows(client):
    addresses = [f"/pairs?path={path}&model_id={model}" for path in PATHS for model in MODELS]
    alone = [shown(client, address).rows for address in addresses]
    with ThreadPoolExecutor(8) as pool:
        together = [*pool.map(lambda place: shown(client, addresses[place % 4]).rows, range(16))]
    assert together == alone * 4


def test_a_warehouse_or_port_that_cannot_be_used_is_refused(decaf, tmp_path, scenes):
    refused(decaf("view", "none"), "no warehouse")
    newer = shutil.copytree(scenes, tmp_path / "newer")
    mark = newer / "warehouse.json"
    mark.write_text(mark.read_text().replace(": 1", ": 99"))
    refused(decaf("view", newer), "99")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused(decaf("view", scenes, "--port", port), "cannot listen", "--port")
