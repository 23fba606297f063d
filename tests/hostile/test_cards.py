"""One good entry of a registry beside every bad one: each fails by its name, and no other does."""

import os
import shutil
import struct
from pathlib import Path

import pytest
import yaml
from registry_folder import put_small_cnn
from safetensors.torch import load_file, save_file
from small_studies import of_scenes

from decaf.errors import DecafError
from decaf.plan.resolution import list_entries, resolve
from decaf.plan.study import Study

SECRET = "s3cret of this machine"


def text(**changed):
    """The card of the good entry with other values, written as YAML writes them."""
    card = yaml.safe_load(CARD) | changed
    return "".join(f"{key}: {value}\n" for key, value in card.items() if value is not None)


CARD = """
architecture: factory:decaf.models.networks.small_cnn:build
weights: net.safetensors
input_size: 32
mean: [0.5, 0.5, 0.5]
std: [0.5, 0.5, 0.5]
"""
BOMB = "".join(f"x{n + 1}: &x{n + 1} [{', '.join([f'*x{n}'] * 9)}]\n" for n in range(12))
LONG = "9" * 5000

TEXTS = {
    "date-that-is-none": (text(family="2026-13-45"), "decaf.yaml:6", "'family'", "2026-13-45"),
    "date": (text(family="2026-01-01"), "'family'", "2026-01-01"),
    "moment": (text(arguments="{x: 2026-01-01 10:00:00}"), "'arguments.x'", "2026-01-01"),
    "nan": (text(mean="[.nan, .5, .5]"), "'mean.0'", "'.nan'"),
    "infinity": (text(std="[.5, -.inf, .5]"), "'std.1'", "'-.inf'"),
    "overflow": (text(std="[.5, 1.0e+999, .5]"), "'std.1'", "'1.0e+999'"),
    "infinite-argument": (text(arguments="{x: [1, {y: .inf}]}"), "'arguments.x.1.y'", ".inf"),
    "set": (text(arguments="{x: !!set {a, b}}"), "'arguments.x'", "!!set"),
    "binary": (text(arguments="{x: !!binary aGFsbG8=}"), "'arguments.x'", "!!binary"),
    "pairs": (text(arguments="{x: !!pairs [a: 1]}"), "'arguments.x'", "!!pairs"),
    "ordered": (text(arguments="{x: !!omap [a: 1]}"), "'arguments.x'", "!!omap"),
    "python-name": (text(arguments="{x: !!python/name:os.system ''}"), "!!python/name:os.system"),
    "python-call": (text(arguments="!!python/object/apply:os.abort []"), "!!python/object/apply"),
    "own-tag": (text(arguments="{x: !mine 1}"), "'arguments.x'", "!mine"),
    "included-file": (text(family="!file /etc/hostname"), "!file"),
    "tag-float": (text(input_size="!!float abc"), "'input_size'", "'abc'"),
    "tag-int": (text(input_size="!!int abc"), "'input_size'", "'abc'"),
    "tag-bool": (text(arguments="{x: !!bool abc}"), "'arguments.x'", "'abc'"),
    "in-itself": (text(arguments="&a {x: *a}"), "anchor", "40"),
    "list-in-itself": (text(arguments="{x: &a [*a, *a]}"), "anchor"),
    "bomb": (f"x0: &x0 [1, 2]\n{BOMB}{text()}", "200000"),
    "merged-bomb": (
        "".join(f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}]}}\n" for n in range(1, 12))
        .join(["m0: &m0 {a: 1}\n", text()]),
        "200000",
    ),
    "merge-of-a-number": (text(arguments="{<<: 3}"), "decaf.yaml:1"),
    "unknown-anchor": (text(arguments="*x"), "decaf.yaml:6", "alias"),
    "digits": (text(input_size=LONG), "'input_size'"),
    "brackets": (text(arguments="[" * 5000 + "]" * 5000), "40"),
    "braces": (text(arguments="{x: " * 5000 + "}" * 5000), "40"),
    "indented": ("".join(f"{' ' * n}a:\n" for n in range(300)), "40"),
    "open-bracket": (text(mean="[0.5, "), "not YAML"),
    "tabs": ("a:\n\t- b\n", "decaf.yaml:2", "not YAML"),
    "two-documents": (f"{text()}---\n{text()}", "not YAML"),
    "given-twice": (f"{text()}weights: other.safetensors\n", "decaf.yaml:6", "'weights'"),
    "given-twice-below": (text(arguments="{a: 1, a: 2}"), "'a'", "twice"),
    "number-as-key": (text(arguments="{1: 2}"), "a number"),
    "nothing-as-key": (text(arguments="{~: 2}"), "nothing"),
    "list-as-key": (text(arguments="{[1]: 2}"), "a list"),
    "nul": (text() + "family: a\0b\n", "decaf.yaml:6", "U+0000"),
    "escaped-nul": (text(family=r'"a\0b"'), "'family'", "U+0000"),
    "escape-sequence": (text(family=r'"a\e[31mb"'), "'family'", "U+001B"),
    "half-a-character": (text(family=r'"\ud800"'), "'family'", "U+D800"),
    "no-character": (text(family=r'"\U00110000"'), "not YAML"),
    "not-utf-8": (text().encode() + b"family: \xff\xfe\n", "decaf.yaml:6", "UTF-8"),
    "empty": ("", "is empty"),
    "comment": ("# nothing\n", "is empty"),
    "plain-text": ("a network\n", "found text"),
    "list": ("- a\n- b\n", "found a list"),
    "large": ("# " + "x" * (2 << 20), "1 MiB"),
    "pickle": (b"\x80\x04\x95\x00\x00", "decaf.yaml:1", "UTF-8"),
    "misspelt": (text(maen="[1]"), "decaf.yaml:6", "'maen'", "'mean'"),
    "true-as-number": (text(mean="[true, .5, .5]"), "'mean'", "true"),
    "true-as-size": (text(input_size="true"), "'input_size'", "true"),
    "negative-size": (text(input_size="-3"), "decaf.yaml:3", "found -3"),
    "large-size": (text(input_size="1000000"), "16384", "found 1000000"),
    "large-mean": (text(mean="[1.0e+300, 1, 1]"), "'mean.0'", "1000000"),
    "tiny-std": (text(std="[1.0e-300, 1, 1]"), "'std.0'", "0.000001"),
    "std-of-zero": (text(std="[0, 1, 1]"), "'std.0'", "found 0"),
    "one-mean-too-many": (text(mean="[1, 1, 1, 1]"), "'mean'"),
    "text-as-mean": (text(mean="grey"), "decaf.yaml:4", "found 'grey'"),
    "many-wrong": (text(mean=f"[{', '.join(['x'] * 999)}]"), "'mean.0'", "994"),
    "list-as-source": (text(source="[network]"), "source"),
    "keys-as-source": (text(source="{a: b}"), "source"),
    "endpoint": ("source: endpoint\nurl: http://x\nversion: a\noutput: value\n", "'source:"),
    "training": (
        text(weights=None, training="{recipe: scene_shortcut, shortcut: 1, seed: 1}"),
        "'training:'",
    ),
    "id": (text(id="mine"), "'id'"),
    "stranger": (text(architecture="factory:os:abort"), "os:abort", "'trusted: ["),
    "stranger-like": (text(architecture="factory:decaf.models.networksx:a"), "'trusted: ["),
    "unknown-network": (text(architecture="timm:no_such_network"), "timm"),
    "network-of-a-folder": (text(architecture="timm:local-dir:/etc"), "timm"),
    "no-source": (text(architecture="nothing"), "architecture"),
    "absent-weights": (text(weights="absent.safetensors"), "absent.safetensors"),
    "weights-above": (text(weights="../good/net.safetensors"), "outside"),
    "weights-elsewhere": (text(weights="/etc/hostname"), "outside"),
    "long-weights": (text(weights="w" * 5000), "'weights'", "5000"),
    "folder-as-weights": (text(weights="folder.safetensors"), "folder"),
    "pipe-as-weights": (text(weights="pipe.safetensors"), "pipe"),
    "link-to-a-device": (text(weights="zero.safetensors"), "outside"),
    "link-to-a-file": (text(weights="secret.safetensors"), "outside"),
    "link-to-itself": (text(weights="loop.safetensors"), "loop.safetensors"),
    "file-as-torch": (text(weights="pipe.pt"), "pipe"),
    "pipe-as-estimator": ("source: estimator\nfile: pipe.skops\n", "pipe"),
    "other-kind": (text(weights="decaf.yaml"), ".safetensors"),
    "deep-header": (text(weights="deep.safetensors"), "deep.safetensors"),
    "huge-header": (text(weights="huge.safetensors"), "huge.safetensors"),
    "cut-short": (text(weights="short.safetensors"), "short.safetensors"),
    "no-byte": (text(weights="nothing.safetensors"), "nothing.safetensors"),
    "other-digest": (text(sha256=f"'{'0' * 64}'"), "/net.safetensors", "000"),
    "argument-elsewhere": (
        text(architecture="timm:resnet18", arguments="{checkpoint_path: /outside/net.pt}"),
        "'/outside/net.pt'",
    ),
    "argument-above": (text(arguments="{a: [{b: ../../net.pt}]}"), "'../../net.pt'"),
    "argument-at-home": (text(arguments="{a: ~/net.pt}"), "'~/net.pt'"),
    "argument-address": (text(arguments="{a: 'http://x/y.pt'}"), "'http://x/y.pt'"),
    "argument-of-windows": (text(arguments=r"{a: 'C:\net.pt'}"), "net.pt"),
    "argument-file": (
        text(architecture="timm:resnet18", arguments="{checkpoint_path: net.safetensors}"),
        "'checkpoint_path'",
    ),
    "argument-unknown": (text(arguments="{nonsense: 1}"), "nonsense"),
    "wrong-tensors": (text(weights="other.safetensors"), "more"),
}  # fmt: skip
"""Cards, and the words that their entries fail with."""


def card_link(folder):
    (folder / "decaf.yaml").unlink()
    (folder / "decaf.yaml").symlink_to(folder.parent.parent / "secret.yaml")


def card_pipe(folder):
    (folder / "decaf.yaml").unlink()
    os.mkfifo(folder / "decaf.yaml")


def card_folder(folder):
    (folder / "decaf.yaml").unlink()
    (folder / "decaf.yaml").mkdir()


def no_card(folder):
    (folder / "decaf.yaml").unlink()


def odd_file(folder):
    os.close(os.open(os.fsencode(folder) + b"/\xff", os.O_CREAT))


def bad_aliases(folder):
    (folder / "1").mkdir()
    (folder / "decaf.yaml").replace(folder / "1" / "decaf.yaml")
    shutil.copy(folder / "net.safetensors", folder / "1")
    (folder / "aliases.yaml").write_text("champion: [" * 90)


def absent_version(folder):
    bad_aliases(folder)
    (folder / "aliases.yaml").write_text("champion: 7\n")


def pipe_of_aliases(folder):
    bad_aliases(folder)
    (folder / "aliases.yaml").unlink()
    os.mkfifo(folder / "aliases.yaml")


DEEDS = {
    "card-elsewhere": (card_link, "a link"),
    "card-pipe": (card_pipe, "decaf.yaml", "pipe"),
    "card-folder": (card_folder, "decaf.yaml", "folder"),
    "no-card": (no_card, "decaf.yaml"),
    "name-of-a-file": (odd_file, "UTF-8"),
    "aliases@champion": (bad_aliases, "aliases.yaml:1", "not YAML"),
    "version@champion": (absent_version, "champion", "7"),
    "pipe@champion": (pipe_of_aliases, "aliases.yaml", "pipe"),
}
"""What is done to the folder of a good card, and the words that its entry fails with."""


def put(folder):
    """A good entry, with the files beside it that bad cards name."""
    put_small_cnn(folder)
    whole = (folder / "net.safetensors").read_bytes()
    deep = b'{"a":' * 10_000 + b"1" + b"}" * 10_000
    (folder / "deep.safetensors").write_bytes(struct.pack("<Q", len(deep)) + deep)
    (folder / "huge.safetensors").write_bytes(struct.pack("<Q", 2**62) + b"{}")
    (folder / "short.safetensors").write_bytes(whole[:-9])
    (folder / "nothing.safetensors").write_bytes(b"")
    tensors = load_file(folder / "net.safetensors")
    save_file(
        tensors | {"more": next(iter(tensors.values())).clone()}, folder / "other.safetensors"
    )
    (folder / "folder.safetensors").mkdir()
    for name in ("pipe.safetensors", "pipe.pt", "pipe.skops"):
        os.mkfifo(folder / name)
    (folder / "zero.safetensors").symlink_to("/dev/zero")
    (folder / "secret.safetensors").symlink_to(folder.parent.parent / "secret.yaml")
    (folder / "loop.safetensors").symlink_to(folder / "loop.safetensors")


@pytest.fixture(scope="module")
def problems(tmp_path_factory):
    """Why entries cannot be audited, by their labels; None of those that can be."""
    folder = tmp_path_factory.mktemp("hostile")
    zoo = folder / "zoo"
    (folder / "secret.yaml").write_text(f"{SECRET}: [\n")
    put(zoo / "good")
    for name, (card, *_) in TEXTS.items():
        shutil.copytree(zoo / "good", zoo / name, symlinks=True, copy_function=os.link)
        (zoo / name / "decaf.yaml").unlink()
        (zoo / name / "decaf.yaml").write_bytes(card if isinstance(card, bytes) else card.encode())
    for name, (deed, *_) in DEEDS.items():
        deed(put_small_cnn(zoo / name.partition("@")[0]))
    Path(os.fsdecode(os.fsencode(zoo) + b"/odd-\xff")).mkdir()
    shutil.copytree(zoo / "good", zoo / "GOOD", symlinks=True, copy_function=os.link)
    put_small_cnn(zoo / "numbered" / "²", seed=2)
    registry = {"kind": "folder", "root": str(zoo), "follow": ["latest", "champion"]}
    study = Study(**of_scenes(folder, registry=registry))
    resolved = resolve(study, list_entries(study.registry))
    return {one.entry.label: problem_of(one) for one in resolved}


def problem_of(resolved):
    """Why an entry cannot be a model, or why its model cannot be loaded; None if it can."""
    if resolved.card is None:
        return resolved.problem
    try:
        resolved.card.load("cpu")
    except DecafError as refusal:
        return str(refusal)
    return None


@pytest.mark.parametrize("name", [*TEXTS, *DEEDS])
def test_a_bad_entry_fails_by_its_name_with_the_reason(problems, name):
    for word in (TEXTS | DEEDS)[name][1:]:
        assert word in problems[name]
    assert len(problems[name]) < 1500


def test_the_other_entries_are_audited(problems):
    audited = {name for name, problem in problems.items() if problem is None}
    assert audited == {"GOOD", "numbered", "aliases", "version", "pipe"}


def test_names_that_not_every_disk_can_hold_apart_are_refused(problems):
    assert "GOOD-" in problems["good"]
    assert "not UTF-8" in problems[r"odd-\xff"]


def test_no_content_of_this_machine_is_shown_and_every_problem_is_foreseen(problems):
    shown = [problem for problem in problems.values() if problem]
    assert not [problem for problem in shown if SECRET in problem]
    assert not [problem for problem in shown if "it cannot be read" in problem]
