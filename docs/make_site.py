"""Make the documentation as a site that opens from a folder: ``python docs/make_site.py [FOLDER]``.

Pages link to each other and to files of the project as they lie in the repository, so the site has
them in the same places. Nothing is fetched, and a link that leads nowhere ends the build.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHOWN = (
    "*.md",
    "CITATION.cff",
    "LICENSE",
    "prefect.yaml",
    "benchmarks",
    "configs",
    "docs",
    "examples",
)
"""What pages are made of or link to."""
BUILDER = Path(sys.executable).with_name("zensical")


def build(folder: Path) -> Path:
    """Make the site in ``folder``, which it replaces; returns its first page."""
    if folder.exists() and not (folder / "mkdocs.yml").exists():
        raise SystemExit(f"{folder} is there and is no site of ours; name another folder")
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    for name in _files():
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, pages / name)
    settings = (ROOT / "docs" / "site.yml").read_text()
    (folder / "mkdocs.yml").write_text(f"{settings}docs_dir: pages\nsite_dir: site\n")
    subprocess.run([BUILDER, "build", "--strict"], cwd=folder, check=True)
    return folder / "site" / "index.html"


def _files() -> list[str]:
    """Files of the project that are shown, by their paths in it."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *SHOWN]
    found = subprocess.run(listed, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return [name for name in found.stdout.split("\0") if name]


if __name__ == "__main__":
    sys.stdout.write(f"{build(Path(*sys.argv[1:] or ['runs/site']))}\n")
