"""Peak memory rises with what is allocated and can be counted anew; huge pages hold ordinary tensors."""

from __future__ import annotations

import mmap

import pytest
import torch

from alfilter.runtime.memory import huge_page_zeros, keep_freed_memory, peak_memory, reset_peak_memory

SIZE = 64 << 20


def test_the_peak_outlives_what_caused_it_until_it_is_reset() -> None:
    if not reset_peak_memory():
        pytest.skip("this system does not reset the peak")
    before = peak_memory()
    with mmap.mmap(-1, SIZE) as block:  # pages of its own, not what the allocator has kept
        block[:] = b"1" * SIZE
    assert peak_memory() - before > SIZE // 2
    assert reset_peak_memory()
    assert peak_memory() - before < SIZE // 2


def test_asking_twice_changes_nothing() -> None:
    assert keep_freed_memory() == keep_freed_memory()


@pytest.mark.parametrize("shape", [(3,), (2, 300_001), (1 << 20,)])
def test_zeros_in_huge_pages_are_ordinary_tensors(shape: tuple[int, ...]) -> None:
    zeros = huge_page_zeros(*shape)
    assert zeros.shape == torch.Size(shape)
    assert zeros.is_contiguous()
    assert zeros.dtype == torch.float32
    assert not zeros.any()
    other = huge_page_zeros(*shape)
    zeros.fill_(3.0)
    assert not other.any()
    assert float(zeros.double().sum()) == 3 * zeros.numel()
