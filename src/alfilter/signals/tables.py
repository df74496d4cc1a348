"""Named columns of numbers from .csv, .tsv, .npz, .npy and .parquet files, and back; no pickle is ever read."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError, nearest
from alfilter.files import replacing
from alfilter.signals.archive import contents, read_archive
from alfilter.signals.file_checks import check_memory, head, looks_like

Column = NDArray[np.float64]
Columns = dict[str, Column]

_MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "?"}  # cells that hold no number, compared in lower case
_HINTS = 40  # columns among which the nearest to a mistyped name is sought
_ROWS = 1 << 16  # rows of a text file parsed at once


def is_table(path: str | Path) -> bool:
    """Whether a name is that of a table and of nothing else; arrays (.npy, .npz) may be other things too.

    >>> is_table("points.csv"), is_table("photo.png")
    (True, False)
    """
    return Path(path).suffix.lower() in (".csv", ".tsv", ".parquet")


def column_names(path: str | Path) -> list[str]:
    """The names of a table's columns, without reading its numbers where the format allows it."""
    file = Path(path)
    form = _form(head(file))
    if form == ".csv":
        with _opened(file) as stream:
            return _header(file, stream)[0]
    return list(_arrays(file, form, ()))


def read_columns(path: str | Path, names: Sequence[str]) -> Columns:
    """The named columns (n,) of a table as float64; a missing number is NaN.

    Text files have a line of names first, or columns called 0, 1, …; commas, semicolons and tabs part the cells. Of an
    .npz every 1-D array is a column, and a 2-D array `a` (n, k) is the columns a0 … a(k-1). The columns of a plain .npy
    array (n, k) are called 0 … k-1, those of a structured one as its fields.
    """
    file = Path(path)
    form = _form(head(file))
    if form == ".csv":
        return _read_text(file, names)
    arrays = _arrays(file, form, names)
    chosen = {name: _numbers(file, name, arrays[name]) for name in names}
    lengths = {name: len(column) for name, column in chosen.items()}
    if len(set(lengths.values())) > 1:
        raise UserError(f"expected columns of one length in {file}, got {lengths}; give columns of the same rows")
    return chosen


def write_columns(path: str | Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write columns as the suffix says: .csv, .tsv, .npz or .parquet."""
    file = Path(path)
    form = file.suffix.lower()
    if form not in (".csv", ".tsv", ".npz", ".parquet"):
        raise UserError(f"a table's name ends in .csv, .tsv, .npz or .parquet, got {file.name!r}; rename the output")
    with replacing(file) as temporary:
        if form == ".npz":
            with temporary.open("wb") as stream:
                np.savez(stream, **columns)  # type: ignore[arg-type]
        elif form == ".parquet":
            arrow, parquet = _arrow(file)
            parquet.write_table(arrow.table(dict(columns)), temporary)
        else:
            with temporary.open("w", encoding="utf-8", newline="") as text:
                write_rows(text, columns, "\t" if form == ".tsv" else ",")


def write_rows(stream: IO[str], columns: Mapping[str, NDArray[Any]], delimiter: str = ",") -> None:
    """Columns as lines of text; a number is written with the fewest digits that give it back."""
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    arrays = list(columns.values())
    for start in range(0, len(arrays[0]), _ROWS):
        writer.writerows(zip(*(column[start : start + _ROWS].tolist() for column in arrays), strict=True))


# ── text ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_text(file: Path, names: Sequence[str]) -> Columns:
    with _opened(file) as stream:
        known, delimiter, named = _header(file, stream)
        _check_names(file, names, known)
        stream.seek(0)
        rows = csv.reader(stream, delimiter=delimiter)
        if named:
            next(rows)
        places = [known.index(name) for name in names]
        parts: list[list[Column]] = [[] for _ in names]
        for first, chunk in _chunks(file, rows, len(known)):
            columns = list(zip(*chunk, strict=True))
            for part, place, name in zip(parts, places, names, strict=True):
                part.append(_parse(file, name, columns[place], first))
    if not parts[0]:
        raise UserError(f"expected rows of numbers in {file}, got none; give a file with data")
    return {name: np.concatenate(part) for name, part in zip(names, parts, strict=True)}


def _chunks(file: Path, rows: Any, width: int) -> Iterator[tuple[int, list[list[str]]]]:
    """Rows in bounded groups, each with the number of its first, from 1; empty lines are left out and not counted.

    Every message about a table counts rows of data: what is not text has no other lines.
    """
    first = 1
    try:
        while taken := list(islice(rows, _ROWS)):
            filled = [row for row in taken if row]
            for offset, row in enumerate(filled):
                if len(row) != width:
                    where = f"data row {first + offset} of {file}"
                    raise UserError(f"expected {width} cells in {where}, got {len(row)}; correct that row")
            if filled:
                yield first, filled
            first += len(filled)
    except (csv.Error, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {file} as a table ({error}); save it as UTF-8 text with commas") from error


def _parse(file: Path, name: str, cells: Sequence[str], first: int) -> Column:
    try:
        return np.array([float(cell) for cell in cells])
    except ValueError:  # a gap or a word: now look at every cell
        pass
    values = np.empty(len(cells))
    for offset, cell in enumerate(cells):
        try:
            values[offset] = np.nan if cell.strip().lower() in _MISSING else float(cell)
        except ValueError:
            advice = "write decimals with a point" if _is_number(cell.replace(",", ".")) else "correct it"
            raise UserError(
                f"expected a number in column {name!r}, data row {first + offset} of {file}, got {cell[:40]!r}; "
                f"{advice} or leave the cell empty"
            ) from None
    return values


def _header(file: Path, stream: IO[str]) -> tuple[list[str], str, bool]:
    """The columns' names, what parts them, and whether the first line holds the names."""
    try:
        first = stream.readline(1 << 20)
    except UnicodeDecodeError as error:
        raise _no_text(file) from error
    delimiter = max(",;\t", key=first.count)
    cells = [cell.strip() for cell in next(csv.reader([first.rstrip("\r\n")], delimiter=delimiter), [])]
    if not any(cells):
        raise UserError(f"expected the names of the columns in the first line of {file}, got an empty one; add them")
    if all(_is_number(cell) for cell in cells):
        return [str(number) for number in range(len(cells))], delimiter, False
    if len(set(cells)) < len(cells):
        twice = Counter(cells).most_common(1)[0][0]
        raise UserError(f"expected different column names in {file}, got {twice!r} twice; rename one")
    return cells, delimiter, True


def _no_text(file: Path) -> UserError:
    """What to say of a file that was to be a table and is no text."""
    what = looks_like(head(file))
    if what.startswith("unknown") or what == "text":
        return UserError(f"cannot read {file} as a table: it is no UTF-8 text; save it as UTF-8 with commas")
    return UserError(f"{file} is {what}, which has no columns to name; give a table", arguments=["coords", "values"])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _opened(file: Path) -> IO[str]:
    csv.field_size_limit(1 << 20)
    return file.open(encoding="utf-8-sig", newline="")


# ── arrays ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _form(start: bytes) -> str:
    """The kind of table by content; what is nothing else is text."""
    marks = ((b"PK\x03\x04", ".npz"), (b"PK\x05\x06", ".npz"), (b"\x93NUMPY", ".npy"), (b"PAR1", ".parquet"))
    return next((form for mark, form in marks if start.startswith(mark)), ".csv")


def _arrays(file: Path, form: str, names: Sequence[str]) -> dict[str, Any]:
    """Columns of an array file by name: the named ones, read; without names all of them, not read."""
    try:
        if form == ".parquet":
            return _parquet(file, names)
        if form == ".npz":
            return read_archive(file, names, _check_names)
        columns = _split("", np.load(file, mmap_mode="r", allow_pickle=False))
        _check_names(file, names, list(columns))
        return columns
    except UserError:
        raise
    except MemoryError as error:
        raise UserError(f"cannot read {file}: it does not fit in memory; give fewer rows") from error
    except Exception as error:  # damaged bytes make readers fail in every way there is
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise UserError(f"cannot read {file} as a table ({reason}); save plain numeric arrays") from error


def _split(name: str, array: NDArray[Any]) -> dict[str, NDArray[Any]]:
    if array.dtype.names:
        return {field: array[field] for field in array.dtype.names}
    if array.ndim == 1:
        return {name or "0": array}
    if array.ndim == 2:
        return {f"{name}{number}": array[:, number] for number in range(array.shape[1])}
    return {}


def _numbers(file: Path, name: str, column: NDArray[Any]) -> Column:
    if column.ndim != 1 or column.dtype.kind not in "biuf":
        raise UserError(f"expected numbers in column {name!r} of {file}, got {column.dtype}; convert the column")
    return column.astype(np.float64)


def _parquet(file: Path, names: Sequence[str]) -> dict[str, Any]:
    arrow, parquet = _arrow(file)
    try:
        schema = parquet.read_schema(file)
        if not names:
            return dict.fromkeys(schema.names)
        _check_names(file, names, schema.names)
        for name in names:  # one text for many rows would be repeated for each of them
            if (kind := schema.field(name).type) not in _number_types(arrow):
                raise UserError(f"expected numbers in column {name!r} of {file}, got {kind}; convert the column")
        check_memory(file, 24 * parquet.read_metadata(file).num_rows * len(names))  # as read, as an array, as float64
        table = parquet.read_table(file, columns=list(dict.fromkeys(names)))
    except UserError:
        raise
    except Exception as error:  # arrow has its own family of errors
        reason = " ".join(str(error).split())[:120]
        raise UserError(f"cannot read {file} as parquet ({reason}); it is damaged, get it again") from error
    return {name: table[name].to_numpy() for name in names}


def _number_types(arrow: Any) -> tuple[Any, ...]:
    whole = [getattr(arrow, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]
    return (*whole, arrow.float16(), arrow.float32(), arrow.float64(), arrow.bool_(), arrow.null())


def _arrow(file: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UserError(
            f"{file} needs pyarrow; install the extra with pip install 'alfilter[parquet]', or save it as .csv"
        ) from None
    return pyarrow, pyarrow.parquet


def _check_names(file: Path, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if not known:
            held = contents(file) or "nothing that makes a column"
            raise UserError(f"{file} has no columns, which are arrays (n,) or (n, k); it holds {held}; save such")
        if name not in known:
            raise UserError(f"{file} has no column {name!r}; {nearest(name, known[:_HINTS])}")
