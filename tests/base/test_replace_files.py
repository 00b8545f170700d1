"""Files are replaced whole, all or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.base.errors import UsageError
from coherence.base.replace_files import replace_files


def test_files_are_replaced_all_or_none(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"1")
    other.write_bytes(b"changed meanwhile")
    with pytest.raises(UsageError, match="changed while it was checked"):
        replace_files({str(one): (b"1", b"2"), str(other): (b"old", b"new")})
    assert one.read_bytes() == b"1"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "other"]
    link = tmp_path / "link"
    link.symlink_to(one)
    one.chmod(0o640)
    replace_files({str(link): (b"1", b"2")})
    assert link.is_symlink()
    assert (one.read_bytes(), one.stat().st_mode & 0o777) == (b"2", 0o640)
    with pytest.raises(UsageError, match="cannot write"):
        replace_files({str(tmp_path / "absent" / "x"): (None, b"")})
