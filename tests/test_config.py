"""Options: checked by name, type and range; read from the command line's words."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, asdict, dataclass, fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alfilter.config import Training, configure, option, parse_options
from alfilter.errors import UserError
from alfilter.training.gradient import COMPILED_PIECES


@dataclass(frozen=True)
class Demo:
    count: int = option(3, "a whole number", low=1, high=10)
    rate: float = option(0.5, "a number", low=0)
    least: float = option(-1.0, "a number", high=0)
    word: str = option("red", "a word", choices=("red", "green"))
    switch: bool = option(False, "true or false")
    size: int | tuple[int, ...] | None = option(None, "one or several sizes", low=1)
    span: float | None = option(None, "a number or none", low=0)


def test_defaults() -> None:
    assert asdict(configure(Demo, {}, "demo")) == asdict(Demo())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"count": 10}, 10),
        ({"rate": 2}, 2.0),
        ({"rate": 0}, 0.0),
        ({"least": 0}, 0.0),
        ({"word": "green"}, "green"),
        ({"switch": True}, True),
        ({"size": None}, None),
        ({"size": 4}, 4),
        ({"size": [4, 5]}, (4, 5)),
        ({"size": (4,)}, (4,)),
        ({"span": None}, None),
        ({"span": 3}, 3.0),
        ({"count": np.int64(4)}, 4),
        ({"rate": np.float32(0.25)}, 0.25),
        ({"size": [np.int32(4), 5]}, (4, 5)),
    ],
)
def test_what_is_taken(options: dict[str, Any], expected: Any) -> None:
    (name,) = options
    value = getattr(configure(Demo, options, "demo"), name)
    assert value == expected
    assert type(value) is type(expected)
    json.dumps(value)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"cuont": 3}, "demo has no option 'cuont'; did you mean 'count'?"),
        ({"qqq": 3}, "demo has no option 'qqq'; known: count, least, rate, size, span, switch, word"),
        ({"count": 0}, "demo option 'count' must be between 1 and 10, got 0"),
        ({"count": 11}, "demo option 'count' must be between 1 and 10, got 11"),
        ({"count": 3.0}, "demo option 'count' must be a whole number, got 3.0 (float)"),
        ({"count": True}, "demo option 'count' must be a whole number, got True (bool)"),
        ({"count": None}, "demo option 'count' must be a whole number, got None (NoneType)"),
        ({"count": [3]}, "demo option 'count' must be a whole number, got [3] (list)"),
        ({"rate": -0.1}, "demo option 'rate' must be at least 0, got -0.1"),
        ({"rate": "1"}, "demo option 'rate' must be a number, got '1' (str)"),
        ({"rate": float("inf")}, "demo option 'rate' must be a finite number, got inf"),
        ({"least": 1}, "demo option 'least' must be at most 0, got 1.0"),
        ({"word": "blue"}, "demo option 'word' must be one of red, green, got 'blue'"),
        ({"word": 3}, "demo option 'word' must be a word, got 3 (int)"),
        ({"switch": 1}, "demo option 'switch' must be true or false, got 1 (int)"),
        ({"size": 0}, "demo option 'size' must be at least 1, got 0"),
        ({"size": (4, 0)}, "demo option 'size' must be at least 1, got 0"),
        ({"size": (4, 2.5)}, "demo option 'size' must be a whole number, got 2.5 (float)"),
        ({"size": 2.5}, "demo option 'size' must be a whole number or sizes like 64x64 or none, got 2.5 (float)"),
        ({"span": "x"}, "demo option 'span' must be a number or none, got 'x' (str)"),
    ],
)
def test_what_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(UserError) as error:
        configure(Demo, options, "demo")
    assert str(error.value) == text


@given(st.dictionaries(st.text(max_size=8), st.none() | st.booleans() | st.integers() | st.floats() | st.text()))
def test_anything_is_taken_or_refused_in_one_line(options: dict[str, Any]) -> None:
    message, configured = "demo", Demo()
    try:
        configured = configure(Demo, options, "demo")
    except UserError as error:
        message = str(error)
    assert "demo" in message
    assert 1 <= configured.count <= 10


@given(st.sampled_from([f.name for f in fields(Demo)]), st.text(max_size=12))
def test_any_words_are_read_or_refused(name: str, text: str) -> None:
    message = "demo option"
    try:
        configure(Demo, parse_options(Demo, [f"{name}={text}"], "demo"), "demo")
    except UserError as error:
        message = str(error)
    assert message.startswith("demo option")


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["count=4", "rate=1e-2"], {"count": 4, "rate": 0.01}),
        (["rate=3"], {"rate": 3.0}),
        (["word=green"], {"word": "green"}),
        (["switch=yes"], {"switch": True}),
        (["switch=False"], {"switch": False}),
        (["size=64"], {"size": 64}),
        (["size=64x32"], {"size": (64, 32)}),
        (["size=none"], {"size": None}),
        (["span=auto"], {"span": None}),
        (["word=a=b"], {"word": "a=b"}),
        ([], {}),
    ],
)
def test_words_are_read(words: list[str], read: dict[str, Any]) -> None:
    assert parse_options(Demo, words, "demo") == read


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("count", "an option is written name=value, got 'count'; for example count=…"),
        ("cuont=3", "demo has no option 'cuont'; did you mean 'count'?"),
        ("count=three", "demo option 'count' must be a whole number, got 'three'"),
        ("rate=fast", "demo option 'rate' must be a number, got 'fast'"),
        ("size=64x", "demo option 'size' must be a whole number or sizes like 64x64 or none, got '64x'"),
    ],
)
def test_words_that_are_refused(word: str, text: str) -> None:
    with pytest.raises(UserError) as error:
        parse_options(Demo, [word], "demo")
    assert str(error.value) == text


def test_options_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Training().steps = 3  # type: ignore[misc]


def test_training_is_the_papers_recipe() -> None:
    setting = Training()
    assert (setting.lr, setting.lr_encoding) == (1e-3, 3e-3)
    assert (setting.schedule, setting.decay, setting.every) == ("step", 0.6, 1250)
    assert (setting.batch, setting.tv, setting.tv_reduction) == (None, 0.0, "sum")


def test_the_samples_of_a_compiled_step_are_those_it_takes() -> None:
    (micro,) = (item for item in fields(Training) if item.name == "micro")
    assert f"{COMPILED_PIECES} times as many in a compiled step" in micro.metadata["doc"]


def test_every_training_setting_is_documented_and_in_its_own_range() -> None:
    assert all(f.metadata["doc"] for f in fields(Training))
    assert configure(Training, asdict(Training()), "training") == Training()
