"""Run small studies of every kind and photograph their reports: ``docs/images/reports/``.

    python docs/make_report_pictures.py [FOLDER]

Studies, models and pages go into FOLDER (``runs/pictures``), which is used again: what is done is
not done twice. Needs the real data (``DECAF_DATA_ROOT``), Chromium and its driver; takes about
half an hour on two cores. The table of ``docs/reports.md`` with the sizes of the pages is written
again, too.
"""

import io
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from PIL import Image
from pydantic import BaseModel
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from decaf.foundation.yaml_source import load

DOCS = Path(__file__).parent
CONFIGS = DOCS.parent / "configs"
PAGE = DOCS / "reports.md"
PICTURES = DOCS / "images" / "reports"
DECAF = Path(sys.executable).with_name("decaf")
STUDIES: dict[str, tuple[str, set[str], dict[str, Any]]] = {
    "demo": ("scenes/demo.yaml", set(), {}),
    "photos": (
        "imagenet9/photos.yaml",
        {"mobilenetv2_100.tf2ptq", "squeezenet1_1.onnxzoo"},
        {
            "data": {"sources": 12, "pair_types": ["same_rand"], "required_variants": []},
            "expect": {"same_rand": "should_not_matter"},
            "names": {"same_rand": "background"},
            "paths": {"only": ("blend", "patch_a")},
            "labels": None,
        },
    ),
    "covertype": (
        "covertype/covertype_small.yaml",
        {f"xgboost_{name}_s7701" for name in ("direct_p95", "gate_p95", "invert_p95", "fragile")},
        {"baselines": {"only": ("global_permutation", "native_shap")}},
    ),
    "controlled": (
        "scenes/evidence_small.yaml",
        {"e__p095__resnet18__seed_5101", "e__p099__resnet18__seed_5101"},
        {"data": {"sources": 128, "dynamic": 24}},
    ),
    "attribution": (
        "attribution/funnybirds_small.yaml",
        {"mobilenetv1_075"},
        {
            "data": {"images": 12, "operators": ["telea"]},
            "attributions": {"only": ("input_x_gradient", "ig_16", "part_occlusion")},
        },
    ),
}
"""Configuration, models of it that are kept (all when empty), and what is changed in its keys."""
SIZES = {"wide": (1200, 900), "phone": (360, 740)}
SCHEMES = ("light", "dark")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")


class Settings(BaseModel, extra="allow"):
    """Whatever a configuration says."""


def main(folder: Path) -> None:
    """Make every page that is not there, photograph all, and write their sizes down."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = [made(name, folder) for name in STUDIES] + [re_audited(folder)]
    PICTURES.mkdir(parents=True, exist_ok=True)
    with browser() as driver:
        for page in pages:
            photograph(driver, page)
        photograph_demo(driver, pages[0])
    write_sizes(pages)


def made(name: str, folder: Path) -> Path:
    """Run a study; returns its report."""
    config, kept, changes = STUDIES[name]
    settings = dict(load(CONFIGS / config, Settings).model_extra or {})
    if kept:
        settings["models"] = [model for model in settings["models"] if model["id"] in kept]
    for key, changed in changes.items():
        if key in ("data", "paths", "baselines", "attributions"):
            only = changed.pop("only", settings[key])
            changed = {one: settings[key][one] for one in only} | changed
        settings[key] = changed
    page = folder / f"{name}.html"
    report = settings["report"] if isinstance(settings["report"], dict) else {}
    settings |= {"report": report | {"page": str(page)}, "workspace": str(folder / "workspace")}
    settings |= {"warehouse": str(folder / "warehouse")}
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(settings, sort_keys=False))
    subprocess.run([DECAF, "run", file], check=True)
    return page


def re_audited(folder: Path) -> Path:
    """Re-audit the registry of ``decaf init``, whose second version fails; returns its report."""
    study = folder / "registry"
    if not study.exists():
        subprocess.run([DECAF, "init", "registry", study], check=True)
    subprocess.run([DECAF, "reaudit", "study.yaml"], cwd=study, check=False)
    (page,) = study.glob("runs/*.html")
    return page


@contextmanager
def browser() -> Iterator[webdriver.Chrome]:
    """Headless Chromium."""
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    yield driver
    driver.quit()


def photograph(driver: webdriver.Chrome, page: Path) -> None:
    """Save the first screen of a page, of every size and in both schemes."""
    for (size, (width, height)), scheme in product(SIZES.items(), SCHEMES):
        show(driver, page, width, height, scheme)
        shot = Image.open(io.BytesIO(driver.get_screenshot_as_png()))
        shot.save(PICTURES / f"{page.stem}_{size}_{scheme}.webp", quality=70, method=6)


def photograph_demo(driver: webdriver.Chrome, page: Path) -> None:
    """Save what the README shows: the verdict, and the pairs of the first pair type."""
    show(driver, page, 1080, 620, "light")
    driver.save_screenshot(str(DOCS / "images" / "report.png"))
    pairs = driver.find_element("css selector", "#pairs .look")
    pairs.screenshot(str(DOCS / "images" / "pair.png"))


def show(driver: webdriver.Chrome, page: Path, width: int, height: int, scheme: str) -> None:
    """Load a page in a window of this size; windows themselves cannot be as narrow as a phone."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    preference = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [preference]})
    driver.get(page.as_uri())


def write_sizes(pages: list[Path]) -> None:
    """Put the size of every page into the table of ``docs/reports.md``."""
    text = PAGE.read_text()
    for page in pages:
        kilobytes = f"{page.stat().st_size / 1000:,.0f}"
        text, count = re.subn(
            rf"(?m)^(\| {page.stem} \|.*\|) [\d,]* \|$", rf"\1 {kilobytes} |", text
        )
        if count != 1:
            raise SystemExit(f"{PAGE} has {count} rows for {page.stem}; expected 1")
    PAGE.write_text(text)


if __name__ == "__main__":
    main(Path(*sys.argv[1:] or ["runs/pictures"]).resolve())
