"""Small made-up data in the official layouts, and where the shared real data lies."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from PIL import Image

# Speed is measured in benchmarks/: a busy machine fails no test.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
# Test files run side by side, one on each core; read when torch and NumPy are imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Bytecode is kept whatever the environment says: every process of the suite would else compile what
# it imports, and pytest rewrite each test file on every core.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# No test ends by a power failure, so none waits for the disk: a warehouse of 270 commits takes 5 s
# instead of 14. A descriptor that is closed is still an error.
os.fsync = os.fstat
# A suite that was started in the background, or by nohup, ignores these, and so would the commands
# that it stops; a handler is none of theirs.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)
# Prefect makes its folder when it is imported; every process of the suite has its own.
PREFECT_HOME = tempfile.TemporaryDirectory(prefix="prefect-")
os.environ["PREFECT_HOME"] = PREFECT_HOME.name

pytest_plugins = [
    "browser_fixture",
    "flow_fixtures",
    "numeric_fixtures",
    "registry_rounds",
    "sql_fixtures",
    "warehouse_fixtures",
]

CLASSES = [
    "00_dog",
    "01_bird",
    "02_wheeled vehicle",
    "03_reptile",
    "04_carnivore",
    "05_insect",
    "06_musical instrument",
    "07_primate",
    "08_fish",
]

LONG_FIRST = ("flows", "third_party", "warehouse", "tasks", "hostile", "tests")
LONG_FIRST += ("covertype", "imagenet9", "attribution", "scenes", "library")


def pytest_collection_modifyitems(items):
    """Folders with long files first: files are handed out whole, so short ones end the suite.

    Tests that need a GPU are skipped where torch sees none.
    """
    places = {folder: place for place, folder in enumerate(LONG_FIRST)}
    items.sort(key=lambda item: places.get(item.path.parent.name, len(places)))
    asking = [item for item in items if item.get_closest_marker("cuda")]
    if asking:
        import torch

        if not torch.cuda.is_available():
            for item in asking:
                item.add_marker(pytest.mark.skip(reason="torch sees no GPU"))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect tests without garbage collection, which would take seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure():
    """At the end it is garbage like any other, or libraries call it leaked."""
    gc.unfreeze()


@pytest.fixture
def photo_root(tmp_path):
    """One noisy foreground per superclass in the Backgrounds Challenge layout, 60 x 50 px."""
    rng = np.random.default_rng(0)
    for number, folder in enumerate(CLASSES):
        for variant in ("mixed_same", "mixed_rand", "mixed_next"):
            target = tmp_path / "photos" / "bg_challenge" / variant / "val" / folder
            target.mkdir(parents=True)
            pixels = rng.integers(0, 256, (50, 60, 3), dtype=np.uint8)
            name = f"fg_n0000000{number}_00001_bg_n0000000{9 - number}_00002.JPEG"
            Image.fromarray(pixels).save(target / name, quality=95)
    return tmp_path / "photos"


@pytest.fixture(scope="session")
def shared_data():
    """Folder of real data; skips the test, with the reason, if it is missing."""
    root = os.environ.get("DECAF_DATA_ROOT")
    if not root:
        pytest.skip("DECAF_DATA_ROOT is not set: the real photos and weights are not here")
    return Path(root)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own with little room, and a way to enlarge it."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    made = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=128k", "tmpfs", folder],
        capture_output=True,
        check=False,
    )
    if not made or made.returncode:
        pytest.skip("mounting a small file system needs root")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)
