"""Writes what a command puts out, and never over what it did not write: inputs, and files of somebody else.

A file that stands there is replaced only if it is empty or has the mark of such an output; a folder is written into
only if none of the files stands there, or it has our marker.  Each file is whole or as before.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from coherence.base.errors import UsageError
from coherence.base.replace_files import replace_files

MARKER = ".coherence-output"
MOST_BYTES = 256_000_000  # of a file that is looked through for the mark


def write_output(file: str | Path, content: bytes, *, mark: bytes | tuple[bytes, ...]) -> None:
    """Writes one file.  mark: bytes of which some stand in every output of this kind.  Raises UsageError."""
    path = Path(file)
    refuse_foreign(path, mark=mark)
    try:
        if path.exists() and not path.is_file() and not path.is_dir():  # a device, such as /dev/stdout
            path.write_bytes(content)
            return
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    replace_files({str(path): (None, content)})


def refuse_foreign(file: str | Path, *, mark: bytes | tuple[bytes, ...]) -> None:
    """Raises UsageError where a file stands that has nothing of the mark."""
    path = Path(file)
    try:
        if path.is_file() and path.stat().st_size and not _has(path, mark):
            raise UsageError(f"{path} holds something else and is not overwritten: name another file, or remove it")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _has(path: Path, mark: bytes | tuple[bytes, ...]) -> bool:
    with path.open("rb") as file:
        content = file.read(MOST_BYTES)
    return any(own in content for own in (mark if isinstance(mark, tuple) else (mark,)))


def made_folder(folder: Path) -> Path:
    """Makes a folder where there is none, and returns it.  Raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}") from None
    return folder


def output_folder(folder: Path, names: Collection[str]) -> Path:
    """Makes the folder ready for files of these names, and returns it.

    Raises UsageError where one of them is there, as a file or a link, and the folder has not our marker.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        marker = folder / MARKER
        if not marker.is_file():
            foreign = sorted(name for name in names if os.path.lexists(folder / name))
            if foreign:
                listed = ", ".join(foreign)
                raise UsageError(f"{folder} holds {listed} already, not written by coherence: name another folder")
            marker.write_text("what coherence wrote here, it may write again\n", encoding="ascii")
        for name in names:
            if (folder / name).is_symlink():
                raise UsageError(f"{folder / name} is a link, and nothing is written through it: remove it")
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror}") from None
    return folder


def write_outputs(folder: Path, contents: Mapping[str, bytes]) -> list[Path]:
    """Writes files of these names into a folder, all or none, and returns their paths.  Raises UsageError."""
    output_folder(folder, contents)
    paths = {str(folder / name): content for name, content in contents.items()}
    replace_files({path: (None, content) for path, content in paths.items()})
    return [Path(path) for path in paths]
