"""`coherence lsp` without its library; the server itself is tried in tests/editing/test_server.py."""

from __future__ import annotations

import sys

import pytest

from coherence.cli._run import run


@pytest.mark.parametrize("library", ["pygls.lsp.server", "lsprotocol"])
def test_the_extra_is_named_where_the_library_is_absent(
    library: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "coherence.editing.server", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    assert run(["lsp"]) == 2
    assert "coherence-engine[lsp]" in capsys.readouterr().err
