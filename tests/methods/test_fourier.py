"""Methods with a fixed Fourier encoding: what they are made of."""

from __future__ import annotations

from alfilter.encodings import Fourier, RandomFourier
from alfilter.methods import build


def test_what_each_method_is_made_of() -> None:
    kinds = {"pe-mlp": Fourier, "fourier-features": RandomFourier}
    for name, kind in kinds.items():
        assert type(build(name, in_dim=2, out_dim=1, width=4).encoding) is kind
    assert build("pe-mlp", in_dim=3, out_dim=1, levels=5, width=4).encoding.out_dim == 2 * 3 * 5
    assert build("fourier-features", in_dim=3, out_dim=1, features=7, width=4).encoding.out_dim == 14


def test_the_spread_of_random_frequencies() -> None:
    encoding = build("fourier-features", in_dim=2, out_dim=1, features=2000, sigma=3.0, width=4).encoding
    across = 2 * encoding.get_buffer("frequencies")  # the domain is two units wide
    assert abs(across.std().item() - 3) < 0.15
