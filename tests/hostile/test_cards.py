"""One good entry of a registry beside every bad one: each fails by its name, and no other does."""

import json
import os
import shutil
import struct
from pathlib import Path

import pytest
import yaml
from flow_fixtures import NETWORKS
from registry_folder import put_small_cnn
from safetensors.torch import load_file, save_file

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
    "date": (text(family="2026-01-01"), "'family'", "the date '2026-01-01'", "put it in quotes"),
    "moment": (text(arguments="{x: 2026-01-01 10:00:00}"), "'arguments.x'", "the date"),
    "nan": (text(mean="[.nan, .5, .5]"), "'mean.0'", "found '.nan'", "a finite number"),
    "infinity": (text(std="[.5, -.inf, .5]"), "'std.1'", "found '-.inf'", "a finite number"),
    "overflow": (text(std="[.5, 1.0e+999, .5]"), "'std.1'", "found '1.0e+999'"),
    "infinite-argument": (text(arguments="{x: [1, {y: .inf}]}"), "'arguments.x.1.y'", ".inf"),
    "set": (text(arguments="{x: !!set {a, b}}"), "'arguments.x'", "found !!set"),
    "binary": (text(arguments="{x: !!binary aGFsbG8=}"), "'arguments.x'", "!!binary"),
    "pairs": (text(arguments="{x: !!pairs [a: 1]}"), "'arguments.x'", "!!pairs"),
    "ordered": (text(arguments="{x: !!omap [a: 1]}"), "'arguments.x'", "!!omap"),
    "python-name": (text(arguments="{x: !!python/name:os.system ''}"), "!!python/name:os.system"),
    "python-call": (text(arguments="!!python/object/apply:os.abort []"), "!!python/object/apply"),
    "own-tag": (text(arguments="{x: !mine 1}"), "'arguments.x'", "found !mine"),
    "included-file": (text(family="!file /etc/hostname"), "expected plain YAML"),
    "tag-float": (text(input_size="!!float abc"), "'input_size'", "found 'abc'", "finite number"),
    "tag-int": (text(input_size="!!int abc"), "'input_size'", "found 'abc'"),
    "tag-bool": (text(arguments="{x: !!bool abc}"), "'arguments.x'", "true or false"),
    "in-itself": (text(arguments="&a {x: *a}"), "an anchor in itself", "40 levels at most"),
    "list-in-itself": (text(arguments="{x: &a [*a, *a]}"), "an anchor in itself"),
    "bomb": (f"x0: &x0 [1, 2]\n{BOMB}{text()}", "200000 at most"),
    "merged-bomb": (
        "".join(f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}]}}\n" for n in range(1, 12))
        .join(["m0: &m0 {a: 1}\n", text()]),
        "200000 at most",
    ),
    "merge-of-a-number": (text(arguments="{<<: 3}"), "expected plain YAML"),
    "unknown-anchor": (text(arguments="*x"), "decaf.yaml:6", "undefined alias"),
    "digits": (text(input_size=LONG), "'input_size'", "a finite number"),
    "brackets": (text(arguments="[" * 5000 + "]" * 5000), "nested too deep", "40 levels"),
    "braces": (text(arguments="{x: " * 5000 + "}" * 5000), "nested too deep", "40 levels"),
    "indented": ("".join(f"{' ' * n}a:\n" for n in range(300)), "nested too deep", "40 levels"),
    "open-bracket": (text(mean="[0.5, "), "it is not YAML"),
    "tabs": ("a:\n\t- b\n", "decaf.yaml:2", "it is not YAML"),
    "two-documents": (f"{text()}---\n{text()}", "it is not YAML", "but found another document"),
    "given-twice": (f"{text()}weights: other.safetensors\n", "decaf.yaml:6", "is given twice"),
    "given-twice-below": (text(arguments="{a: 1, a: 2}"), "key 'a' is given twice"),
    "number-as-key": (text(arguments="{1: 2}"), "a key of a number", "put it in quotes"),
    "nothing-as-key": (text(arguments="{~: 2}"), "a key of nothing"),
    "list-as-key": (text(arguments="{[1]: 2}"), "a key of a list"),
    "nul": (text() + "family: a\0b\n", "decaf.yaml:6", "U+0000"),
    "escaped-nul": (text(family=r'"a\0b"'), "'family'", "U+0000"),
    "escape-sequence": (text(family=r'"a\e[31mb"'), "'family'", "U+001B"),
    "half-a-character": (text(family=r'"\ud800"'), "'family'", "U+D800"),
    "no-character": (text(family=r'"\U00110000"'), "is not YAML"),
    "not-utf-8": (text().encode() + b"family: \xff\xfe\n", "decaf.yaml:6", "expected UTF-8"),
    "empty": ("", "is empty"),
    "comment": ("# nothing\n", "is empty"),
    "plain-text": ("a network\n", "found text", "expected keys and values"),
    "list": ("- a\n- b\n", "found a list", "expected keys and values"),
    "large": ("# " + "x" * (2 << 20), "larger than 1 MiB"),
    "pickle": (b"\x80\x04\x95\x00\x00", "decaf.yaml:1", "expected UTF-8"),
    "misspelt": (text(maen="[1]"), "decaf.yaml:6", "unknown key 'maen'", "did you mean 'mean'"),
    "true-as-number": (text(mean="[true, .5, .5]"), "'mean' is true", "expected a number"),
    "true-as-size": (text(input_size="true"), "'input_size' is true", "expected a number"),
    "negative-size": (text(input_size="-3"), "decaf.yaml:3", "greater than 0 (found -3)"),
    "large-size": (text(input_size="1000000"), "less than or equal to 16384 (found 1000000)"),
    "large-mean": (text(mean="[1.0e+300, 1, 1]"), "'mean.0'", "less than or equal to 1000000"),
    "tiny-std": (text(std="[1.0e-300, 1, 1]"), "'std.0'", "greater than or equal to 0.000001"),
    "std-of-zero": (text(std="[0, 1, 1]"), "'std.0'", "found 0"),
    "one-mean-too-many": (text(mean="[1, 1, 1, 1]"), "as many numbers as 'mean'"),
    "text-as-mean": (text(mean="grey"), "decaf.yaml:4", "found 'grey'"),
    "many-wrong": (text(mean=f"[{', '.join(['x'] * 999)}]"), "'mean.0'", "and 994 more"),
    "list-as-source": (text(source="[network]"), "unknown source"),
    "keys-as-source": (text(source="{a: b}"), "unknown source"),
    "endpoint": ("source: endpoint\nurl: http://x\nversion: a\noutput: value\n", "is of source"),
    "training": (
        text(weights=None, training="{recipe: scene_shortcut, shortcut: 1, seed: 1}"),
        "has 'training:'",
    ),
    "id": (text(id="mine"), "has an 'id'"),
    "stranger": (text(architecture="factory:os:abort"), "os:abort", "which would run here"),
    "stranger-like": (text(architecture="factory:decaf.models.networksx:a"), "would run here"),
    "unknown-network": (text(architecture="timm:no_such_network"), "unknown timm model"),
    "network-of-a-folder": (text(architecture="timm:local-dir:/etc"), "unknown timm model"),
    "no-source": (text(architecture="nothing"), "unknown architecture source"),
    "absent-weights": (text(weights="absent.safetensors"), "there is no absent.safetensors in the"),
    "weights-above": (text(weights="../good/net.safetensors"), "lies outside of the folder"),
    "weights-elsewhere": (text(weights="/etc/hostname"), "lies outside of the folder of its card"),
    "long-weights": (text(weights="w" * 5000), "'weights' has 5000 characters", "shorter path"),
    "folder-as-weights": (text(weights="folder.safetensors"), "it is a folder, not a file"),
    "pipe-as-weights": (text(weights="pipe.safetensors"), "it is a pipe, not a file"),
    "link-to-a-device": (text(weights="zero.safetensors"), "lies outside of the folder"),
    "link-to-a-file": (text(weights="secret.safetensors"), "lies outside of the folder"),
    "link-to-itself": (text(weights="loop.safetensors"), "loop.safetensors"),
    "file-as-torch": (text(weights="pipe.pt"), "it is a pipe, not a file"),
    "pipe-as-estimator": ("source: estimator\nfile: pipe.skops\n", "it is a pipe, not a file"),
    "other-kind": (text(weights="decaf.yaml"), "expected .safetensors"),
    "deep-header": (text(weights="deep.safetensors"), "not a safetensors file", "recursion limit"),
    "huge-header": (text(weights="huge.safetensors"), "not a safetensors file", "too large"),
    "cut-short": (text(weights="short.safetensors"), "not a safetensors file"),
    "no-byte": (text(weights="nothing.safetensors"), "not a safetensors file"),
    "other-digest": (text(sha256=f"'{'0' * 64}'"), "/net.safetensors has sha256", "expects 000"),
    "argument-elsewhere": (
        text(architecture="timm:resnet18", arguments="{checkpoint_path: /outside/net.pt}"),
        "'/outside/net.pt'", "may lie outside of the folder of the card",
    ),
    "argument-above": (text(arguments="{a: [{b: ../../net.pt}]}"), "'../../net.pt'"),
    "argument-at-home": (text(arguments="{a: ~/net.pt}"), "'~/net.pt'", "may lie outside"),
    "argument-address": (text(arguments="{a: 'http://x/y.pt'}"), "'http://x/y.pt'"),
    "argument-of-windows": (text(arguments=r"{a: 'C:\net.pt'}"), "may lie outside"),
    "argument-file": (
        text(architecture="timm:resnet18", arguments="{checkpoint_path: net.safetensors}"),
        "'checkpoint_path' is no argument of a network",
    ),
    "argument-unknown": (text(arguments="{nonsense: 1}"), "cannot be built", "nonsense"),
    "wrong-tensors": (text(weights="other.safetensors"), "does not fit", "is left over"),
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
    "card-elsewhere": (card_link, "is a link that leads out of its folder"),
    "card-pipe": (card_pipe, "decaf.yaml cannot be read: it is a pipe, not a file"),
    "card-folder": (card_folder, "decaf.yaml cannot be read: it is a folder, not a file"),
    "no-card": (no_card, "has no card; expected decaf.yaml there"),
    "name-of-a-file": (odd_file, "has a file whose name is not UTF-8", "rename it"),
    "aliases@champion": (bad_aliases, "aliases.yaml:1", "it is not YAML"),
    "version@champion": (absent_version, "champion is version 7; known: 1"),
    "pipe@champion": (pipe_of_aliases, "aliases.yaml cannot be read: it is a pipe"),
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
def found(tmp_path_factory, warm_command, workers, prefect_server):
    """What one re-audit says of all entries, as JSON, and what it printed beside that."""
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
    study = {
        "study": "hostile",
        "data": {"adapter": "shapes3d", "sources": 2, "seed": 1},
        "registry": {"kind": "folder", "root": str(zoo), "follow": ["latest", "champion"]},
        "score": {"kind": "class_probability", "classes": 2},
        "paths": {"blend": {"kind": "blend", "sigma": 1.15}},
        "cluster": workers,
        "python_path": [str(NETWORKS)],
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(study))
    command = warm_command.start(["reaudit", "study.yaml", "--json"], folder, prefect_server)
    done = command.completed(timeout=300)
    assert done.returncode == 1, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def problems(found):
    """Why entries failed, by their labels; None of those that were audited."""
    rows = json.loads(found.stdout)["entries"]
    return {row["entry"]: row["problem"] for row in rows}


@pytest.mark.parametrize("name", [*TEXTS, *DEEDS])
def test_a_bad_entry_fails_by_its_name_with_the_reason(problems, name):
    for word in (TEXTS | DEEDS)[name][1:]:
        assert word in problems[name]
    assert len(problems[name]) < 1500


def test_the_other_entries_are_audited(problems):
    audited = {name for name, problem in problems.items() if problem is None}
    assert audited == {"GOOD", "numbered", "aliases", "version", "pipe"}


def test_names_that_not_every_disk_can_hold_apart_are_refused(problems):
    assert "differs from GOOD-" in problems["good"]
    assert "is not UTF-8; give the folder another name" in problems[r"odd-\xff"]


def test_nothing_of_this_machine_is_told_and_nothing_is_unforeseen(found, problems):
    assert SECRET not in found.stdout + found.stderr
    assert "Traceback" not in found.stderr
    assert "not foreseen" not in found.stderr
    assert not [name for name, problem in problems.items() if "it cannot be read" in str(problem)]
