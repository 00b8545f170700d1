"""Replaces files whole: each holds its old bytes or its new ones, whatever happens in between."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from coherence.base.errors import UsageError


def replace_files(changes: Mapping[str, tuple[bytes | None, bytes]]) -> None:
    """Replaces files: path -> (bytes that were read, None: whatever is there; bytes to be written).

    Raises UsageError; then nothing was replaced.  Every new file is written and flushed beside its old one before the
    first is put in place; links stay links, modes stay.  A file that changed since it was read is not replaced.
    """
    fresh: dict[Path, Path] = {}
    try:
        for name, (old, new) in changes.items():
            real = Path(name).resolve()
            _unchanged(real, name, old)
            if real in fresh and fresh[real].read_bytes() != new:
                raise UsageError(f"{name} is given twice under different names: nothing was written")
            if real not in fresh:
                fresh[real] = _beside(real, new)
        for name, (old, _) in changes.items():
            _unchanged(Path(name).resolve(), name, old)
        for real, copy in fresh.items():
            copy.replace(real)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"cannot write {', '.join(changes)}: {reason}") from None
    finally:
        for copy in fresh.values():
            with contextlib.suppress(OSError):
                copy.unlink()


def _unchanged(real: Path, name: str, old: bytes | None) -> None:
    if real.exists() and not os.access(real, os.W_OK):
        raise UsageError(f"cannot write {name}: it is read-only")
    if old is not None and real.read_bytes() != old:
        raise UsageError(f"{name} changed while it was checked: nothing was written; run again")


def _beside(real: Path, content: bytes) -> Path:
    """Returns a new file in the same folder with the content, on the disk."""
    handle, name = tempfile.mkstemp(prefix=".coherence-", dir=real.parent)
    copy = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if real.exists():
            shutil.copymode(real, copy)
        else:
            copy.chmod(0o666 & ~_mask())
    except BaseException:
        copy.unlink()
        raise
    return copy


def _mask() -> int:
    """Returns the permissions that new files do not get; it can be read by setting it alone."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def encoded_like(old: bytes, text: str) -> bytes:
    """Returns the text in the encoding of the old bytes: UTF-8 with or without a mark, or UTF-16 of the same order."""
    if old[:2] == b"\xff\xfe":
        return b"\xff\xfe" + text.encode("utf-16-le")
    if old[:2] == b"\xfe\xff":
        return b"\xfe\xff" + text.encode("utf-16-be")
    mark = b"\xef\xbb\xbf" if old.startswith(b"\xef\xbb\xbf") else b""
    return mark + text.encode("utf-8")
