"""The model file: what goes in comes out, and nothing else gets in."""

from __future__ import annotations

import json
import pickle
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from torch import Tensor

from alfilter.errors import UserError
from alfilter.methods import METHODS, Field, build
from alfilter.training import load, save
from alfilter.training.modelfile import FORMAT, _Bounded, read_tensors, write_tensors

SIGNAL = {"kind": "image", "shape": [5, 6], "channels": 3, "mode": "RGB", "bits": 8, "dtype": "uint8", "low": 0.0,
          "high": 255.0, "observe": "all", "observe_seed": 0}  # fmt: skip
Tensors = dict[str, Tensor]


def small(name: str = "al-sine") -> Field:
    sizes: dict[str, Any] = {"width": 8, "depth": 1}
    if name.startswith("al-"):
        sizes |= {"levels": 2, "grid": (4, 5)}
    field = build(name, in_dim=2, out_dim=3, preset="default", samples=(5, 6), seed=3, **sizes)
    field.signal = dict(SIGNAL)
    return field


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("model") / "model.safetensors"
    save(small(), file)
    return file


def refusal(file: Path) -> str:
    with pytest.raises(UserError) as refused:
        load(file)
    message = str(refused.value)
    assert "\n" not in message
    assert str(file) in message
    return message


@pytest.mark.parametrize("name", ["al-sine", "al-relu", "pe-mlp", "fourier-features", "siren"])
def test_round_trip(name: str, tmp_path: Path) -> None:
    field = small(name)
    field.set_range(torch.zeros(3), torch.tensor([1.0, 2.0, 3.0]))
    save(field, tmp_path / "a.safetensors")
    again = load(tmp_path / "a.safetensors")
    save(again, tmp_path / "b.safetensors")
    x = torch.rand(7, 2) * 2 - 1
    assert torch.equal(again(x), field(x))
    assert not again.training
    assert again.signal == SIGNAL
    assert json.loads(json.dumps(again.spec)) == json.loads(json.dumps(field.spec))
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()


def test_every_method_can_be_read_back_at_its_own_size(tmp_path: Path) -> None:
    for name in METHODS:
        save(build(name, in_dim=2, out_dim=3, samples=(64, 64)), tmp_path / "m.safetensors")
        assert load(tmp_path / "m.safetensors").spec["method"] == name


def test_a_field_of_unknown_making_is_not_saved(tmp_path: Path) -> None:
    field = small()
    field.spec = {}
    with pytest.raises(UserError, match=r"made by hand; register its method .* or make it with alfilter\.build"):
        save(field, tmp_path / "m.safetensors")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_cut_at_any_length(good: Path, data: st.DataObject) -> None:
    whole = good.read_bytes()
    length = data.draw(st.integers(0, len(whole) - 1))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cut.safetensors"
        file.write_bytes(whole[:length])
        refusal(file)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_flipped_byte_in_the_header(good: Path, data: st.DataObject) -> None:
    """Either one line, or a field that still works (a letter of a comment may change without harm)."""
    whole = bytearray(good.read_bytes())
    end = 8 + int.from_bytes(whole[:8], "little")
    whole[data.draw(st.integers(0, end - 1))] ^= data.draw(st.integers(1, 255))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "flipped.safetensors"
        file.write_bytes(whole)
        with suppress(UserError):
            assert load(file)(torch.zeros(1, 2)).shape == (1, 3)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_anything_else(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "junk"
        file.write_bytes(data)
        refusal(file)


class Bomb:
    """Unpickling it would be noticed."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return pytest.fail, ("a pickle was loaded",)


def test_a_pickle_is_never_loaded(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(pickle.dumps(Bomb()))
    torch.save(Bomb(), tmp_path / "t")
    assert "not a readable model file" in refusal(tmp_path / "p")
    assert "not a readable model file" in refusal(tmp_path / "t")


def test_foreign_files(tmp_path: Path) -> None:
    save_file({"a": torch.zeros(2)}, tmp_path / "foreign")
    assert "of another program" in refusal(tmp_path / "foreign")
    save_file({"a": torch.zeros(2)}, tmp_path / "odd", metadata={"alfilter": "no json"})
    assert "not a readable model file" in refusal(tmp_path / "odd")
    save_file({"a": torch.zeros(2)}, tmp_path / "deep", metadata={"alfilter": "[" * 100_000})
    assert "not a readable model file" in refusal(tmp_path / "deep")
    save_file({"a": torch.zeros(2)}, tmp_path / "long", metadata={"alfilter": '{"format": ' + "1" * 5000 + "}"})
    assert "not a readable model file" in refusal(tmp_path / "long")


def with_option(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda header: header["options"].update({name: value})


HEADERS: list[tuple[str, Callable[[dict[str, Any]], Any], str]] = [
    ("newer", lambda h: h.update(format=FORMAT + 1), f"has format {FORMAT + 1}, this version reads up to {FORMAT}"),
    ("no format", lambda h: h.pop("format"), "no format number"),
    ("format of a word", lambda h: h.update(format="1"), "no format number"),
    ("format true", lambda h: h.update(format=True), "no format number"),
    ("unknown method", lambda h: h.update(method="magic"), "unknown method 'magic'"),
    ("method a list", lambda h: h.update(method=[]), "cannot be built"),
    ("method a number", lambda h: h.update(method=7), "its method or its preset is not a word"),
    ("preset a number", lambda h: h.update(preset=0.5), "its method or its preset is not a word"),
    ("no options", lambda h: h.pop("options"), "'options' is missing"),
    ("options a list", lambda h: h.update(options=[]), "not tables"),
    ("unknown preset", lambda h: h.update(preset="none"), "no preset 'none'"),
    ("unknown option", with_option("colour", 1), "no option 'colour'"),
    ("out of range", with_option("levels", 99), "'levels' must be between 1 and 20, got 99"),
    ("wrong type", with_option("levels", "8"), "'levels' must be a whole number"),
    ("not a number", with_option("kappa", float("nan")), "must be a finite number"),
    ("other width", with_option("width", 9), "should be torch.float32 (9,), got torch.float32 (8,)"),
    ("a width no memory holds", with_option("width", 8192), "should be"),
    ("depth", with_option("depth", 2), "is missing or extra"),
    ("huge grid", with_option("grid", [4096, 4096]), "more numbers than the file holds"),
    ("in_dim", lambda h: h.update(in_dim=0), "in_dim must be"),
    ("huge in_dim", lambda h: h.update(in_dim=40, samples=None), "cannot be built"),
    ("out_dim a word", lambda h: h.update(out_dim="3"), "out_dim must be"),
    ("samples", lambda h: h.update(samples=7), "cannot be built"),
    ("endless samples", lambda h: h.update(samples=[float("inf"), 5]), "cannot be built"),
    ("no signal", lambda h: h.pop("signal"), "'signal' is missing"),
    ("signal a word", lambda h: h.update(signal="x"), "not tables"),
    ("shape", lambda h: h["signal"].update(shape=[5]), "contradict"),
    ("no bits", lambda h: h["signal"].pop("bits"), "contradict"),
    ("low", lambda h: h["signal"].update(low=float("inf")), "contradict"),
    ("endless frames", lambda h: h["signal"].update(shape=[1 << 31, 1 << 31]), "contradict"),
    ("endless rows", lambda h: h["signal"].update(shape=[(1 << 24) + 1, 2]), "contradict"),
    ("a broken seed", lambda h: h["signal"].update(observe_seed=0.5), "contradict"),
    ("a negative seed", lambda h: h["signal"].update(observe_seed=-1), "contradict"),
    ("channels", lambda h: h["signal"].update(channels=4), "contradict"),
]


@pytest.mark.parametrize(("change", "message"), [h[1:] for h in HEADERS], ids=[h[0] for h in HEADERS])
def test_headers(change: Callable[[dict[str, Any]], Any], message: str, good: Path, tmp_path: Path) -> None:
    header, tensors = read_tensors(good)
    change(header)
    write_tensors(tmp_path / "m", tensors, header)
    assert message in refusal(tmp_path / "m")


@pytest.mark.parametrize(
    ("kind", "shape"),
    [("video", [(1 << 20) + 1, 2, 2]), ("video", [1 << 14, 1 << 10, 1 << 9]), ("lightfield", [512, 512, 2, 2]),
     ("audio", [(1 << 28) + 1]), ("volume", [1 << 24, 1 << 24, 2])],
)  # fmt: skip
def test_frames_views_and_samples_have_ceilings(kind: str, shape: list[int], tmp_path: Path) -> None:
    field = build("siren", in_dim=len(shape), out_dim=3, width=4, depth=1)
    field.signal = {**SIGNAL, "kind": kind, "shape": shape, "rate": 25.0}
    save(field, tmp_path / "m")
    assert "the facts of its signal contradict themselves" in refusal(tmp_path / "m")
    field.signal["shape"] = [2] * len(shape)
    save(field, tmp_path / "m")
    load(tmp_path / "m")


@pytest.mark.parametrize(
    "damage",
    [{"noise": 5}, {"noise": ["s"]}, {"weight": {}}, {"observe": 5}, {"observe_seed": "x"}, {"observe_seed": -1},
     {"coords": [5]}, {"high": [0.0]}, {"support": "x"}],
)  # fmt: skip
def test_facts_of_points_are_of_their_types(damage: dict[str, Any], tmp_path: Path) -> None:
    field = build("siren", in_dim=1, out_dim=1, width=4, depth=1)
    facts = {"kind": "points", "coords": ["x"], "low": [0.0], "high": [1.0], "support": None, "weight": None}
    values = {"values": ["z"], "value_low": [0.0], "value_high": [1.0], "noise": "s", "observe": "random:0.5"}
    field.signal = {**facts, **values, "observe_seed": 0, "support": [1.0]}
    save(field, tmp_path / "m")
    load(tmp_path / "m")
    field.signal |= damage
    save(field, tmp_path / "m")
    assert "the facts of its points contradict themselves" in refusal(tmp_path / "m")


@pytest.mark.parametrize("name", ["x; rm -rf ~", "x $(id)", "x\x1b[2J", "--index-url=http://x", ""])
def test_nothing_is_pasted_into_a_shell_from_a_file(name: str, good: Path, tmp_path: Path) -> None:
    header, tensors = read_tensors(good)
    for where in ("package", "module"):
        write_tensors(tmp_path / "m", tensors, {**header, "method": "magic", "provider": f"{where} {name}"})
        assert refusal(tmp_path / "m").endswith("unknown method 'magic'; upgrade alfilter, or fit it again")


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("diner", {"table": [2] * 16}, "a grid has at most 8 coordinates, got 16"),
        ("al-sine", {"levels": 1, "grid": [2] * 16}, "α may vary along 10 coordinates, got 16"),
    ],
)
def test_the_corners_of_a_cell_have_a_ceiling(
    method: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    """Every place would be interpolated between 65,536 of them."""
    spec = {"method": method, "preset": None, "in_dim": 16, "out_dim": 1, "samples": None}
    table = {"encoding.table": torch.zeros(1 << 16, 2)}
    write_tensors(tmp_path / "m", table, {"format": FORMAT, **spec, "options": options, "signal": {}})
    assert message in refusal(tmp_path / "m")


def test_an_option_that_had_no_effect_and_is_gone_is_passed_over(good: Path, tmp_path: Path) -> None:
    header, tensors = read_tensors(good)
    header["options"]["heads"] = 1
    write_tensors(tmp_path / "m", tensors, header)
    assert "heads" not in load(tmp_path / "m").spec["options"]
    header["options"]["heads"] = 2
    write_tensors(tmp_path / "m", tensors, header)
    assert "al-sine has no option 'heads'" in refusal(tmp_path / "m")


def poison(tensors: Tensors) -> None:
    tensors["encoding.alpha.values"][1, 2] = float("nan")


TENSORS: list[tuple[str, Callable[[Tensors], Any], str]] = [
    ("missing", lambda t: t.pop("shift"), "shift is missing or extra"),
    ("extra", lambda t: t.update(more=torch.zeros(1)), "more is missing or extra"),
    ("shape", lambda t: t.update(shift=torch.zeros(4)), "shift should be torch.float32 (3,), got torch.float32 (4,)"),
    ("dtype", lambda t: t.update(shift=torch.zeros(3, dtype=torch.float64)), "got torch.float64 (3,)"),
    ("NaN", poison, "tensor encoding.alpha.values holds NaN or infinity"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), [t[1:] for t in TENSORS], ids=[t[0] for t in TENSORS])
def test_tensors(change: Callable[[Tensors], Any], message: str, good: Path, tmp_path: Path) -> None:
    header, tensors = read_tensors(good)
    change(tensors)
    write_tensors(tmp_path / "m", tensors, header)
    assert message in refusal(tmp_path / "m")


BUFFERS: list[tuple[str, dict[str, Any], str, float, str]] = [
    ("octree", {"levels": 3, "capacity": 200}, "encoding.rows", 205, "a node's row is -1 or below 200, got "),
    ("octree", {"levels": 3, "capacity": 200}, "encoding.rows", 2_000_000_000, "a node's row is -1 or below 200, got "),
    ("acorn", {"tiles": 16, "deepest": 3, "patch": 2}, "encoding.cover", 16, "is not that of the blocks"),
    ("acorn", {"tiles": 16, "deepest": 3, "patch": 2}, "encoding.blocks", 9, "a block lies outside the domain"),
    ("al-grid", {"levels": 3, "table": 8}, "encoding.alpha.values", 1e30, "α lies between -1 and 3.5 here"),
    ("al-sine", {"levels": 3, "bounded": False}, "encoding.alpha.values", 1e30, "α lies between "),
]


@pytest.mark.parametrize(("name", "options", "tensor", "value", "message"), BUFFERS)
def test_what_compiled_code_would_trust(
    name: str, options: dict[str, Any], tensor: str, value: float, message: str, tmp_path: Path
) -> None:
    field = build(name, in_dim=2, out_dim=3, samples=(8, 8), **options)
    save(field, tmp_path / "good")
    header, tensors = read_tensors(tmp_path / "good")
    tensors[tensor].view(-1)[-1] = value
    write_tensors(tmp_path / "m", tensors, header)
    assert message in refusal(tmp_path / "m")


def test_the_sum_of_what_is_made_is_bounded(tmp_path: Path) -> None:
    """60 layers of a million numbers, none of which is large by itself, and a trillion values a place."""
    field = build("al-sine", in_dim=2, out_dim=1, width=8, depth=1, grid=4)
    field.spec["options"].update(width=1024, depth=60)
    write_tensors(tmp_path / "m", {"shift": torch.zeros(1)}, {"format": FORMAT, **field.spec, "signal": {}})
    assert "more numbers than the file holds" in refusal(tmp_path / "m")
    spec = {**field.spec, "out_dim": 1 << 40}
    write_tensors(tmp_path / "m", {"shift": torch.zeros(1)}, {"format": FORMAT, **spec, "signal": {}})
    assert "out_dim must be a whole number from 1 to 65536" in refusal(tmp_path / "m")


def test_every_way_to_make_numbers_counts() -> None:
    """The first of many filters of BACON alone are more than their file."""
    with pytest.raises(UserError, match="more numbers than the file holds"), _Bounded(0):
        torch.randint(-1, 2, ((1 << 20) + 1,))
    with _Bounded(0):
        torch.randint(-1, 2, (1 << 20,))
