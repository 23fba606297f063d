"""A small warehouse, a made-up audit and its report, and an S3-compatible server."""

import shutil
from contextlib import ExitStack

import pytest
from report_reader import Reader
from s3_server import CREDENTIALS, running
from scenes_warehouse import scenes_warehouse
from small_warehouse import small_warehouse
from stub_audit import open_stub

from warehouse import connect, storage
from warehouse.commits.writer import open_root
from warehouse.storage.cache import cache_folder


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A small warehouse that no test changes."""
    return small_warehouse(tmp_path_factory.mktemp("small") / "warehouse").folder


@pytest.fixture(scope="session")
def two_studies(tmp_path_factory):
    """A small warehouse with a second study, t, that no test changes."""
    root = tmp_path_factory.mktemp("two") / "warehouse"
    small_warehouse(root)
    return small_warehouse(root, study="t", run_id="other", epsilon=0.1).folder


@pytest.fixture(scope="session")
def scenes(tmp_path_factory):
    """A warehouse of made-up scenes that no test changes."""
    return scenes_warehouse(tmp_path_factory.mktemp("scenes") / "warehouse").folder


@pytest.fixture(scope="session")
def empty(tmp_path_factory):
    """A warehouse without a commit that no test changes."""
    return open_root(tmp_path_factory.mktemp("empty") / "warehouse").folder


@pytest.fixture(scope="session")
def opened_small(small):
    """A connection to the small warehouse."""
    with connect(small) as connection:
        yield connection


@pytest.fixture(scope="session")
def opened_two(two_studies):
    """A connection to the warehouse of two studies."""
    with connect(two_studies) as connection:
        yield connection


@pytest.fixture(scope="session")
def opened_scenes(scenes):
    """A connection to the warehouse of scenes."""
    with connect(scenes) as connection:
        yield connection


@pytest.fixture(scope="session")
def opened_empty(empty):
    """A connection to the warehouse without a commit."""
    with connect(empty) as connection:
        yield connection


@pytest.fixture
def root(small, tmp_path):
    """A copy of the small warehouse."""
    return shutil.copytree(small, tmp_path / "warehouse")


@pytest.fixture
def store(root):
    """The copy, opened."""
    return storage.open(root)


@pytest.fixture
def no_copies(tmp_path, monkeypatch):
    """An empty cache folder, but for the views: to bind them takes seconds."""
    bound = cache_folder() / "views"
    bound.mkdir(parents=True, exist_ok=True)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "views").symlink_to(bound)
    monkeypatch.setenv("DECAF_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def copies(tmp_path):
    """Make and open numbered copies of a warehouse: copies(root)(number)."""
    return lambda root: lambda number: storage.open(shutil.copytree(root, tmp_path / str(number)))


@pytest.fixture
def stub():
    """Open a made-up audit until the test ends: stub(audit)."""
    with ExitStack() as opened:
        yield lambda audit: opened.enter_context(open_stub(audit))


@pytest.fixture(scope="session")
def charts_drawn_once():
    """Draw equal data once: most tests of the report change a few rows of the same audit."""
    import vl_convert  # these take a second to import

    from warehouse.report import page
    from warehouse.report.audit import figures

    drawn = {}

    def once(draw, data_of=lambda *data: data):
        def draw_once(*given, **options):
            key = draw.__name__, repr(data_of(*given)), repr(options)
            if key not in drawn:
                drawn[key] = draw(*given, **options)
            return drawn[key]

        return draw_once

    def slope_data(facts, pair_type):
        return facts.paths, facts.profiles, facts.path_ratios, pair_type

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "_path_slopes", once(figures._path_slopes, slope_data))
        for module, name in (
            (vl_convert, "vegalite_to_svg"),
            (figures, "_stage_panels"),
            (figures, "profile_bars"),
            (page, "paper_pictures"),
        ):
            patch.setattr(module, name, once(getattr(module, name)))
        yield


@pytest.fixture
def report(charts_drawn_once, tmp_path):
    """Write and read the report of the study that a connection has: report(connection)."""
    from warehouse.report.page import write_report  # charts take a second to import

    def written(connection):
        ((study,),) = connection.sql("SELECT DISTINCT study FROM out_runs").fetchall()
        write_report(connection, study, tmp_path / "r.html", has_paper=True)
        return Reader((tmp_path / "r.html").read_text())

    return written


@pytest.fixture(scope="session")
def s3():
    """A server with a bucket, and its credentials in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in CREDENTIALS.items():
            patch.setenv(name, value)
        with running() as server:
            server.make_bucket()
            yield server
