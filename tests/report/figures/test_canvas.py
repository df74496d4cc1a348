"""What every figure starts from and ends with."""

from __future__ import annotations

from alfilter.report.figures.canvas import DPI, new_figure, plain_axes, png_bytes
from alfilter.report.page.document import png_size


def test_a_figure_has_its_size_and_the_same_bytes_every_time() -> None:
    def drawn() -> bytes:
        figure = new_figure(3.0, 2.0)
        axes = figure.add_subplot()
        axes.plot([0, 1], [1, 0])
        plain_axes(axes)
        return png_bytes(figure)

    assert png_size(drawn()) == (3 * DPI, 2 * DPI)
    assert drawn() == drawn()
    assert b"Software" not in drawn()


def test_plain_axes_have_two_spines() -> None:
    axes = new_figure(2.0, 2.0).add_subplot()
    plain_axes(axes)
    assert {name for name, spine in axes.spines.items() if spine.get_visible()} == {"left", "bottom"}
