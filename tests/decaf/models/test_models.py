import io
import pickle
import resource
import warnings
from argparse import Namespace

import pytest
import safetensors.torch
import torch
from torch import nn

from decaf.errors import ModelError, UnknownName, WriteFailed
from decaf.foundation.callables import load_callable
from decaf.models import architectures
from decaf.models.checkpoint import check_header, load_into, read_metadata, save


def test_a_checkpoint_comes_back_with_its_metadata(tmp_path):
    network, other = nn.Linear(3, 2), nn.Linear(3, 2)
    save(network, tmp_path / "a.safetensors", {"note": "trained"})
    load_into(other, tmp_path / "a.safetensors")
    torch.testing.assert_close(other.weight, network.weight)
    assert read_metadata(tmp_path / "a.safetensors") == {"note": "trained"}
    assert [path.name for path in tmp_path.iterdir()] == ["a.safetensors"]


def test_the_length_of_a_header_is_not_taken_for_a_pickle(tmp_path):
    """A header's length comes first, and is a multiple of 8: one in 32 starts as a pickle does."""
    path, starts = tmp_path / "a.safetensors", set()
    for length in range(0, 256, 8):
        note = {"note": "x" * length}
        save(nn.Linear(3, 2), path, note)
        starts.add(path.read_bytes()[0])
        assert read_metadata(path) == note
    assert len(starts) == 32
    assert 0x80 in starts


def test_a_full_disk_leaves_no_checkpoint(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(WriteFailed, match="cannot be written"):
            save(nn.Linear(300, 200), tmp_path / "a.safetensors", {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (nn.Linear(4, 2), r"weight .* \[2, 3\], .* \[2, 4\]"),
        (nn.Linear(3, 2, bias=False), "bias is left over"),
    ],
)
def test_a_checkpoint_of_another_network_names_the_tensors(tmp_path, network, message):
    save(nn.Linear(3, 2), tmp_path / "a.safetensors", {})
    with pytest.raises(ModelError, match=message):
        load_into(network, tmp_path / "a.safetensors")


STATE = {"weight": torch.arange(6.0).view(2, 3), "bias": torch.ones(2)}


class Harmful:
    def __reduce__(self):
        return print, ("unpickled",)


def of_torch(content):
    """Bytes of a file that torch writes."""
    file = io.BytesIO()
    torch.save(content, file)
    return file.getvalue()


def of_script(network):
    """Bytes of a TorchScript archive."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(network), file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (of_torch({"weight": torch.ones(1)}), "is a pickle"),
        (pickle.dumps(1), "is a pickle"),
        *((content, "not a safetensors file") for content in (b"", b"not a checkpoint at all")),
        (b"\x10" + bytes(7) + b"{" * 16, "not a safetensors file"),
    ],
)
def test_another_file_is_refused_and_a_pickle_never_opened(tmp_path, content, message):
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=message):
        read_metadata(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.safetensors", safetensors.torch.save(STATE)[:-10], "damaged"),
        ("a.pt", of_torch(STATE)[:-100], "torch checkpoint"),
        ("a.pt", of_torch(nn.Linear(3, 2)), "Linear.*Unpickling.*safetensors.torch.save_file"),
        ("a.pt", of_torch({"args": Namespace(lr=1)}), r"names argparse\.Namespace"),
        ("a.pt", of_script(nn.Linear(3, 2)), r"torch\.jit\.load"),
        ("a.pt", of_torch({"weight": Harmful()}), "unpickling"),
        ("a.pt", of_torch([1, 2]), "list"),
        ("a.pt", of_torch({"weight": 3, "bias": 4}), "weight, bias"),
    ],
    ids=["cut", "cut torch", "network", "arguments", "script", "harmful", "list", "numbers"],
)
def test_a_damaged_file_or_one_without_a_state_dict_is_refused(
    tmp_path, capsys, name, content, message
):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=message):
        load_into(nn.Linear(3, 2), tmp_path / name)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("suffix", [".pt", ".pth", ".bin", ".tar"])
@pytest.mark.parametrize("is_zip", [True, False])
def test_a_torch_state_dict_is_loaded(tmp_path, suffix, is_zip):
    path, network = tmp_path / f"a{suffix}", nn.Linear(3, 2)
    torch.save(STATE, path, _use_new_zipfile_serialization=is_zip)
    check_header(path)
    load_into(network, path)
    torch.testing.assert_close(network.weight.data, STATE["weight"])


def test_an_entry_and_a_prefix_lead_to_the_state_dict(tmp_path):
    wrapped = {f"module.{name}": tensor for name, tensor in STATE.items()}
    content = {"epoch": 3, "state_dict": {**wrapped, "criterion.weight": torch.ones(1)}}
    torch.save(content, tmp_path / "a.pth")
    network = nn.Linear(3, 2)
    load_into(network, tmp_path / "a.pth", entry="state_dict", prefix="module.")
    torch.testing.assert_close(network.weight.data, STATE["weight"])

    with pytest.raises(ModelError, match="give 'entry: state_dict'"):
        load_into(network, tmp_path / "a.pth")
    with pytest.raises(UnknownName, match="'statedict'; .* 'state_dict'"):
        load_into(network, tmp_path / "a.pth", entry="statedict")
    with pytest.raises(ModelError, match=r"'modul_'.*module\."):
        load_into(network, tmp_path / "a.pth", entry="state_dict", prefix="modul_")
    with pytest.raises(ModelError, match=r"module\.bias is left over.*'prefix: module\.'"):
        load_into(network, tmp_path / "a.pth", entry="state_dict")


@pytest.mark.parametrize(
    ("name", "message"),
    [("a.pt", "not a torch checkpoint"), ("a.h5", r"\.h5.*\.safetensors")],
)
def test_the_kind_of_a_weight_file_is_checked_without_torch(tmp_path, name, message):
    (tmp_path / name).write_bytes(b"<html>not found</html>")
    with pytest.raises(ModelError, match=message):
        check_header(tmp_path / name)


def test_a_missing_checkpoint_says_where_it_belongs(tmp_path):
    with pytest.raises(ModelError, match=r"a\.safetensors cannot be read"):
        read_metadata(tmp_path / "a.safetensors")


@pytest.mark.parametrize("architecture", ["torchvision:squeezenet1_1", "timm:mobilenetv2_100"])
def test_library_architectures_are_built_untrained(architecture):
    assert isinstance(architectures.build(architecture, {"num_classes": 3}), nn.Module)


@pytest.mark.parametrize(
    ("architecture", "meant"),
    [
        ("torchvison:resnet18", "torchvision"),
        ("torchvision:resnet19", "resnet1"),
        ("timm:resnet19", "resnet1"),
        ("factory:torch.nn:Liner", "Linear"),
    ],
)
def test_a_misspelt_architecture_names_the_nearest(architecture, meant):
    with pytest.raises(UnknownName, match=f"did you mean '{meant}"):
        architectures.build(architecture, {})


def test_a_factory_is_the_users_own_function():
    network = architectures.build("factory:torch.nn:Linear", {"in_features": 2, "out_features": 1})
    assert isinstance(network, nn.Linear)
    assert architectures.identity("factory:torch.nn:Linear") != "torch.nn:Linear"


@pytest.mark.parametrize(
    ("architecture", "arguments", "message"),
    [
        ("factory:torch.nn:Linear", {"wrong": 1}, "cannot be built: TypeError"),
        ("factory:collections:OrderedDict", {}, "expected a torch.nn.Module"),
        ("factory:no_colon", {}, "expected package.module:function"),
    ],
)
def test_a_factory_that_does_not_work_is_explained(architecture, arguments, message):
    with pytest.raises(ModelError, match=message):
        architectures.build(architecture, arguments)


@pytest.mark.parametrize(
    ("factory", "message"),
    [("nowhere_at_all:build", "python_path"), ("builtins:dict", "has no file")],
)
def test_a_factory_without_a_file_has_no_identity(factory, message):
    with pytest.raises(ModelError, match=message):
        architectures.identity(f"factory:{factory}")


def test_a_changed_module_is_imported_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "changing.py").write_text("def answer(): return 1\n")
    assert load_callable("changing:answer")() == 1
    (tmp_path / "changing.py").write_text("def answer(): return 2222\n")
    assert load_callable("changing:answer")() == 2222


@pytest.mark.parametrize("text", ["import nothing_of_the_kind", "def answer(:"])
def test_a_module_that_cannot_be_imported_is_explained(tmp_path, monkeypatch, text):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "wrong_module.py").write_text(text)
    with pytest.raises(ModelError, match="wrong_module.*cannot be imported"):
        load_callable("wrong_module:answer")
