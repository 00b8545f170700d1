"""Reads whole files of telemetry, logs and networks up to a size: a device, or a packed file, has no end."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import BinaryIO, cast

from coherence.base.errors import InputError, Problem
from coherence.base.places import Place

MOST_BYTES = 256 << 20  # of one file, unpacked


def whole_file(path: Path, *, most: int = MOST_BYTES) -> bytes:
    """Returns the bytes of a file, unpacked where its name ends in `.gz`.

    Raises InputError where it cannot be read, or has more than `most` bytes.
    """
    try:
        with cast("BinaryIO", gzip.open(path)) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read(most + 1)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        why = (isinstance(error, OSError) and error.strerror) or str(error)
        raise _refused(path, f"cannot be read: {why}", "name a file that can be read") from None
    if len(content) > most:
        message = f"more than {most >> 20} MiB" if most >> 20 else f"more than {most} bytes"
        raise _refused(path, f"{message}, and it is read as a whole", "split it, or give Parquet or CSV instead")
    return content


def whole_text(path: Path, *, lenient: bool = False, most: int = MOST_BYTES) -> str:
    """Returns the text of such a file, without a mark of byte order; `lenient`: wrong bytes are replaced.

    Raises InputError also where it is not UTF-8, with the line.
    """
    content = whole_file(path, most=most)
    try:
        return content.decode("utf-8-sig", errors="replace" if lenient else "strict")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _refused(path, f"not UTF-8: {error.reason}", "save the file as UTF-8", line) from None


def _refused(path: Path, message: str, remedy: str, line: int = 1) -> InputError:
    return InputError([Problem(Place(str(path), line, 1, line, 1), message, remedy)])
