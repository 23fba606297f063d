"""What a user can see is documented, and what is documented is true."""

import importlib.util
import re
import sys
import tomllib
from itertools import chain, product
from pathlib import Path
from typing import Annotated, get_args

import pytest
import yaml
from accessibility import assert_page_accessible, resize
from pydantic import TypeAdapter

import decaf
from decaf.contracts.checking import check, check_free_name, check_planning_imports
from decaf.contracts.targets import candidates
from decaf.data.adapters.base import Adapter
from decaf.foundation.plugins import OneOf, members, name_of
from decaf.models.card import ModelCard
from decaf.plan.places import BASES, load_anywhere
from decaf.plan.study import Study, load_study
from decaf.registry.entries import Registry
from decaf.scoring.scores.base import ScoreDefinition
from decaf.studies.covertype.classifiers import Family
from flows.commands.app import app
from tasks.plan import plan_units
from tasks.sizes import fill_block_size
from tasks.units.scope import Scope
from warehouse import storage
from warehouse.query.views import views

ROOT = Path(__file__).parents[1]
CONFIGS = ROOT / "configs"
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "howto").glob("*.md")),
    *sorted((ROOT / "docs" / "studies").glob("*.md")),
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
]
TEXT = "\n".join(page.read_text() for page in PAGES)


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "page", ["configuration.md", "warehouse.md", "studies/configuration.md", "studies/views.md"]
)
def test_reference_pages_are_up_to_date(page):
    path = ROOT / "docs" / page
    assert path.read_text() == script("make_reference").PAGES[path](), (
        "run: python docs/make_reference.py"
    )


def test_the_picture_of_the_rooms_is_up_to_date():
    rooms = script("make_rooms")
    assert rooms.PICTURE.read_text() == rooms.picture(), "run: python docs/make_rooms.py"


def test_the_site_folds_long_tables_lists_and_code_alone():
    fold = script("make_site").fold_long_parts

    def table(count):
        head = "<tr><th>key</th><th align=x>of <i>it</i></th></tr>"
        return f"<table>\n{head}{'<tr><td>a</td><td>b</td></tr>' * count}</table>"

    def entries(count):
        return f"<ul>\n{'<li>a</li>' * count}</ul>"

    short = f"<p>a</p>{table(12)}<p>b</p>{entries(16)}<ul class=menu>{'<li>a</li>' * 20}</ul>"
    assert fold(short) == short
    begins = '<details class="long"><summary>'
    assert fold(f"<p>a</p>{table(13)}<p>b</p>") == (
        f"<p>a</p>{begins}13 rows: key, of it</summary>\n{table(13)}\n</details><p>b</p>"
    )
    assert fold(table(2) + entries(17)) == (
        f"{table(2)}{begins}17 entries</summary>\n{entries(17)}\n</details>"
    )
    assert fold(table(1) * 20) == table(1) * 20
    assert fold(table(1) * 21).count(f"{begins}1 rows") == 21

    def code(count):
        lines = "<i>a</i>\n" * count
        return f'<div class="highlight"><pre><span></span><code>{lines}</code></pre></div>'

    assert fold(code(40) * 30) == code(40) * 30
    assert fold(code(9) * 30 + code(10)) == (
        f"{code(9) * 30}{begins}10 lines</summary>\n{code(10)}\n</details>"
    )


def test_every_command_is_documented():
    names = [
        command.name or command.callback.__name__.replace("_", "-")
        for command in app.registered_commands
    ]
    assert "run" in names
    for name in names:
        assert f"`decaf {name}" in TEXT, name


def test_every_view_is_documented():
    names = [view.name for view in views()]
    assert len(names) > 20
    for name in names:
        assert f"`{name}`" in TEXT, name


def test_every_key_has_a_description():
    for name, field in Study.model_fields.items():
        assert field.description, name


def test_every_configuration_of_the_project_can_be_read(monkeypatch, tmp_path):
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "architectures.py").write_text("")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("DECAF_DATA_ROOT", str(tmp_path))
    configs = [path for path in CONFIGS.glob("*/*.yaml") if path.parent.name != "clusters"]
    assert {path.parent.name for path in configs} >= {"covertype", "imagenet9", "scenes"}
    for path in configs:
        # Of a study with two profiles the file says which, and the name also whose it is.
        whole = f"{path.parent.name}_{path.stem}".removesuffix("_paper")
        assert load_study(path).study in (path.stem, whole)


def test_the_covertype_zoo_is_the_papers(monkeypatch, tmp_path):
    monkeypatch.setenv("DECAF_DATA_ROOT", str(tmp_path))
    study = load_study(CONFIGS / "covertype" / "covertype.yaml")
    recipes = [model.training for model in study.models]
    assert len(recipes) == 135
    families = get_args(Family)
    assert len(families) == 5
    seeds = (7701, 7702, 7703)
    expected = [
        *product(families, ("direct", "gate", "invert"), (0.75, 0.95), seeds),
        *product(families, ("robust", "mild", "fragile"), (None,), seeds),
    ]
    assert {(r.classifier, r.mechanism, r.strength, r.seed) for r in recipes} == set(expected)
    # Other rows would be audited than were held out.
    assert {recipe.table for recipe in recipes} == {study.data.table}
    assert study.data.table.drawn_per_class == 120_000
    assert (
        {recipe.fitted_per_class for recipe in recipes} == {study.data.audited_per_class} == {None}
    )
    for model in study.models:
        made = model.training
        strength = "" if made.strength is None else f"_p{made.strength * 100:.0f}"
        assert model.id == f"{made.classifier}_{made.mechanism}{strength}_s{made.seed}"
        assert (model.family, model.method) == (made.classifier, "predict_proba")
    assert (study.grid.size, study.epsilon) == (11, 0.02)


@pytest.mark.parametrize("name", ["covertype", "covertype_sample"])
def test_the_baselines_of_covertype_explain_the_models_of_the_paper(name, monkeypatch, tmp_path):
    monkeypatch.setenv("DECAF_DATA_ROOT", str(tmp_path))
    study = load_study(CONFIGS / "covertype" / f"{name}.yaml")
    covered = {
        method: [card for card in study.models if baseline.applies_to(card)]
        for method, baseline in study.baselines.items()
    }
    assert {method: len(cards) for method, cards in covered.items()} == {
        **dict.fromkeys(("global_permutation", "context_permutation", "pdp_ale"), 135),
        **dict.fromkeys(("native_shap", "retraining"), 135),
        **{"shap_interaction": 54, "kernel_shap": 45, "lime": 45},
    }
    assert {card.training.seed for card in covered["kernel_shap"] + covered["lime"]} == {7701}
    assert all(baseline.kind == method for method, baseline in study.baselines.items())


def test_the_baselines_of_covertype_predict_as_many_rows_as_the_papers(monkeypatch, tmp_path):
    monkeypatch.setenv("DECAF_DATA_ROOT", str(tmp_path))
    asked = load_study(CONFIGS / "covertype" / "covertype.yaml").baselines
    permutations, within = asked["global_permutation"], asked["context_permutation"]
    assert (2 + permutations.repeats + within.repeats) * 48_000 * 135 == 207_360_000
    shap, lime = asked["kernel_shap"], asked["lime"]
    assert 45 * lime.rows * lime.samples == 11_796_480
    one = shap.background + shap.rows * (1 + shap.samples * shap.background)
    assert 45 * one == 377_501_760


def yaml_examples(page):
    return re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)


def test_every_source_of_models_has_an_example_that_can_be_read(monkeypatch, tmp_path):
    monkeypatch.setenv("MODEL_TOKEN", "secret")
    examples = yaml_examples("models.md")
    (tmp_path / "models.yaml").write_text("\n".join(examples))
    (tmp_path / "study.yaml").write_text(
        "study: examples\ndata: {adapter: shapes3d}\nmodels: !file models.yaml\n"
        "score: {kind: class_probability, classes: 2, target: 1}\npaths: {blend: {kind: blend}}\n"
    )
    models = load_study(tmp_path / "study.yaml").models
    assert len(models) == sum(example.count("- id:") for example in examples)
    sources = [name_of(card) for card in members(ModelCard)]
    assert {card.source for card in models} == set(sources)


def test_every_general_adapter_has_an_example_that_can_be_read():
    page = (ROOT / "docs" / "data.md").read_text()
    texts = [text.replace("!file ", "") for text in yaml_examples("data.md")]
    section = TypeAdapter(Annotated[Adapter, OneOf(Adapter)])
    read = [section.validate_python(yaml.safe_load(text)["data"]) for text in texts]
    general = [one for one in members(Adapter) if one.__module__.startswith("decaf.data.adapters")]
    assert {type(one) for one in read} == set(general)
    assert all(f"[`{name_of(one)}`](#" in page for one in general)
    (header,) = re.findall(r"```csv\n(.*?)\n", page)
    assert all(f"`{name}`" in page for name in header.split(","))


def test_the_example_of_a_plug_in_is_checked_and_planned(monkeypatch, tmp_path):
    page = (ROOT / "docs" / "plugins.md").read_text()
    files = dict(re.findall(r"a whole file, `(\S+)`:\n\n```python\n(.*?)```", page, re.DOTALL))
    assert len(files) == page.count("```python") == 3
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "squares.yaml").write_text(yaml_examples("plugins.md")[0])
    monkeypatch.setattr(sys, "path", list(sys.path))
    study = load_study(tmp_path / "squares.yaml")
    pairs = study.pair_set()
    study, _ = fill_block_size(study, pairs, storage.open(study.warehouse))
    scored = [unit for unit in plan_units(Scope(study, pairs)) if unit.kind == "score"]
    assert [unit.row_count for unit in scored] == [4]
    for name in files:
        ((entry, place),) = candidates(str(tmp_path / name))
        member = load_anywhere(entry, place)
        outcomes = [*check(member), check_free_name(member), check_planning_imports(member)]
        assert [outcome for outcome in outcomes if outcome.problem] == []


def test_the_page_of_questions_names_views_whose_intervals_need_five_sources():
    (row,) = re.findall(r"\| an interval is NULL \|.*", (ROOT / "docs" / "faq.md").read_text())
    names = {view.name for view in views() if "source_count >= 5" in view.sql}
    assert "out_responses" in names
    assert names <= set(re.findall(r"`(\w+)`", row))


def test_every_place_and_base_is_on_the_page_of_plug_ins():
    page = (ROOT / "docs" / "plugins.md").read_text()
    for base in BASES:
        assert re.search(rf"\| `{base.place.name}` \|.*`{base.place.tag}|{base.place.tag}: …", page)
        assert base.__name__ in page


def test_every_registry_is_on_the_page_of_re_audits():
    page = (ROOT / "docs" / "reaudit.md").read_text()
    for kind in members(Registry):
        assert f"`kind: {name_of(kind)}" in page


def test_the_sample_benchmark_asks_what_the_page_of_imagenet9_says(monkeypatch, tmp_path):
    monkeypatch.setenv("DECAF_DATA_ROOT", str(tmp_path))
    study = load_study(CONFIGS / "imagenet9" / "imagenet9_deep.yaml")
    assert (len(study.models), study.data.sources, len(study.attributions)) == (32, 768, 6)
    forward = sum(method.forward_calls for method in study.attributions.values())
    backward = sum(method.backward_calls for method in study.attributions.values())
    said = f"{forward} forward and {backward} backward rows"
    assert said in (ROOT / "docs" / "studies" / "imagenet9.md").read_text()


def test_every_source_and_score_is_on_the_page_of_models():
    page = (ROOT / "docs" / "models.md").read_text()
    for member in [*members(ModelCard), *members(ScoreDefinition)]:
        assert f"| `{name_of(member)}` |" in page


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.slow
def test_the_site_has_every_page_of_at_most_12000_px_and_fetches_nothing(tmp_path, browser):
    first = script("make_site").build(tmp_path / "site")  # which ends at a dead link
    pages = [*PAGES, *sorted((ROOT / "docs" / "results").glob("*.md"))]
    menu = (ROOT / "docs" / "site.yml").read_text().partition("nav:")[2]
    for page in pages:
        name = str(page.relative_to(ROOT))
        assert f" {name}\n" in menu, f"{name} is missing in the menu of docs/site.yml"
    for shown in first.parent.rglob("*.html"):
        loads = r"<(?:script|link|img)[^>]+(?:src|href)=.?https?:[^>]+"
        fetched = [tag for tag in re.findall(loads, shown.read_text()) if "canonical" not in tag]
        assert not fetched, shown.name
        resize(browser, 1200, 900)
        browser.get(shown.as_uri())
        height = browser.execute_script("return document.documentElement.scrollHeight")
        assert height <= 12_000, shown.name
    for name in ("index", "docs/report", "docs/results/index"):
        assert_page_accessible(browser, first.parent / f"{name}.html")


def test_the_example_by_hand_is_what_the_library_computes():
    page = (ROOT / "docs" / "theory.md").read_text()
    rows = re.findall(r"^\| [a-z, ]+ \|([-−.0-9 |]+)\|$", page, re.MULTILINE)
    numbers = [[float(cell.replace("−", "-")) for cell in row.split("|")] for row in rows]
    assert len(numbers) == 3
    for *response, evidence, contradiction, fragility in numbers:
        found = decaf.profile(response, [0, 0.5, 1], epsilon=0.02)
        expected = (evidence, contradiction, fragility)
        assert (found.evidence, found.contradiction, found.fragility) == pytest.approx(expected)
        assert abs(response[-1]) == found.endpoint_magnitude


def test_every_dependency_has_a_reason():
    library, pipeline = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
        for folder in (".", "packaging/pipeline")
    )
    groups = library["optional-dependencies"].values()
    text = (ROOT / "docs" / "dependencies.md").read_text()
    for requirement in chain(library["dependencies"], pipeline["dependencies"], *groups):
        assert "==" not in requirement or "decaf-audit" in requirement, "pins are for the lock"
        name = re.match(r"[\w-]+", requirement)[0]
        assert f"`{name}`" in text, name


def test_results_write_percents_as_all_other_pages():
    for page in (ROOT / "docs" / "results").glob("*.md"):
        assert not re.search(r"\d%", page.read_text()), f"{page.name}: write 95 %, with a space"


def test_pages_that_a_report_names_are_there():
    texts = (file.read_text() for file in (ROOT / "warehouse" / "report").rglob("*.j2"))
    pages = {page for text in texts for page in re.findall(r"docs/[\w/]+\.md", text)}
    assert "docs/limits.md" in pages
    assert all((ROOT / page).exists() for page in pages)
