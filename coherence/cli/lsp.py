"""Serve an editor: findings while typing, words of keys, completions, repairs"""

from __future__ import annotations

import click

from coherence.base.errors import MissingExtraError


@click.command("lsp")
def command() -> int:
    """Serve the Language Server Protocol over standard input and output, until the editor ends it."""
    try:
        from coherence.editing.server import server
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise MissingExtraError("the language server", "lsp") from None
    server().start_io()
    return 0
