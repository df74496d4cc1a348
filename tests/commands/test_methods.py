"""The table of methods and the options of one."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from tests.support.commands import alfilter

from alfilter.commands.methods import method_options, method_rows, print_table
from alfilter.errors import UserError
from alfilter.methods import METHODS, build, parameter_count


def test_one_row_per_method() -> None:
    warnings: list[str] = []
    rows = {row["method"]: row for row in method_rows(warnings.append)}
    assert not warnings
    assert list(rows) == list(METHODS)
    assert rows["al-sine"]["adaptive"] == "yes"
    assert rows["siren"]["adaptive"] == "no"
    assert rows["siren"]["params"] == 2 * 256 + 256 + 2 * (256 * 256 + 256) + 256 * 3 + 3  # by hand
    assert rows["pe-mlp"]["params"] == parameter_count(build("pe-mlp", in_dim=2, out_dim=3, preset="default"))


@pytest.mark.parametrize("name", METHODS)
def test_every_option_is_explained(name: str) -> None:
    rows = method_options(name)
    assert [row["option"] for row in rows] == [field.name for field in fields(METHODS[name].options)]
    assert all(row["meaning"] for row in rows)


def test_an_unknown_method_names_the_nearest() -> None:
    with pytest.raises(UserError, match=r"no method 'sirn'; did you mean 'siren'\?"):
        method_options("sirn")


def test_columns_line_up(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([{"a": 1, "long": "x"}, {"a": 1000, "long": "yy"}])
    assert capsys.readouterr().out == "a     long\n1     x\n1000  yy\n"


def test_the_methods_as_json() -> None:
    rows = json.loads(alfilter("methods", "--json").out)
    assert [row["method"] for row in rows["methods"]] == list(METHODS)
