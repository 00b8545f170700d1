"""Reads CSV files: records, each with the line on which it begins, and an error with a line for what cannot be read.

SOURCE: RFC 4180.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from coherence.base.errors import InputError, line_error

HEAD = 1 << 16  # characters that are looked at before reading
SEPARATORS = ",;\t|"

Record = tuple[int, list[str]]  # the line on which it begins, its fields


def csv_table(
    path: Path,
    *,
    encoding: str = "utf-8",
    separators: str = ",",
    nul: bool = False,
    remedy: str = "save the file as UTF-8",
) -> tuple[list[str], Iterator[Record]]:
    """Returns the fields of the first record that has some, and the records after it.

    Options as in `csv_records`.  Raises InputError, also where there is no such record.
    """
    records = csv_records(path, encoding=encoding, separators=separators, nul=nul, remedy=remedy)
    header = next((fields for _, fields in records if any(field.strip() for field in fields)), None)
    if header is None:
        raise line_error(path, 1, "the file is empty", "begin with a line of column names")
    return header, records


def csv_records(
    path: Path,
    *,
    encoding: str = "utf-8",
    separators: str = ",",
    lenient: bool = False,
    nul: bool = False,
    remedy: str = "save the file as UTF-8",
) -> Iterator[Record]:
    """Yields (line, fields) of each record in little memory; an empty line is a record without fields.

    `separators`: that which the first line holds most often stands between fields.  `lenient`: bytes and quotes that
    are not as they should be are taken as they are.  `nul`: the character may stand in a field; else it tells a binary
    file.  `remedy`: for bytes that are not of the encoding.
    Raises InputError with the line.
    """
    line = 1
    decoded_as = "utf-8-sig" if encoding == "utf-8" else encoding  # a mark of byte order is no text
    try:
        with path.open(encoding=decoded_as, errors="replace" if lenient else "strict", newline="") as file:
            head = file.read(HEAD)
            if "\0" in head and not (nul or lenient):
                raise _binary(path)
            file.seek(0)
            separator = most_frequent(head, separators)
            reader = csv.reader(file, strict=not lenient, delimiter=separator)
            for fields in reader:
                yield line, fields
                line = reader.line_num + 1
    except UnicodeDecodeError as error:
        raise _undecoded(path, encoding, error, remedy) from None
    except (csv.Error, OSError, LookupError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise line_error(path, line, f"cannot be read: {reason}", "give a CSV file with one row on each line") from None


def most_frequent(head: str, separators: str = SEPARATORS) -> str:
    """Returns the separator that the first line of a text holds most often; of equals the first."""
    return max(separators, key=(head.splitlines() or [""])[0].count)


def _binary(path: Path) -> InputError:
    return line_error(path, 1, "this is a binary file, not CSV", "give CSV, or the file with the ending of its format")


def _undecoded(path: Path, encoding: str, error: UnicodeDecodeError, remedy: str) -> InputError:
    """Returns the line and the column of the first byte that is not of the encoding."""
    with path.open("rb") as file:
        head = file.read(HEAD)
        if head[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            return line_error(path, 1, "the text is UTF-16, not UTF-8", remedy)
        if b"\0" in head:
            return _binary(path)
        file.seek(0)
        line, first = _first_undecoded(file, encoding) or (1, error)
    byte = first.object[first.start]
    return line_error(path, line, f"byte 0x{byte:02x} at column {first.start + 1} is not {encoding.upper()}", remedy)


def _first_undecoded(lines: Iterator[bytes], encoding: str) -> tuple[int, UnicodeDecodeError] | None:
    for line, raw in enumerate(lines, 1):
        try:
            raw.decode(encoding)
        except UnicodeDecodeError as error:
            return line, error
    return None
