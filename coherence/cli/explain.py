"""Explain one code: what it means, why it hurts, an example and what to write instead."""

from __future__ import annotations

import click


@click.command("explain")
@click.argument("code")
def command(code: str) -> int:
    """Print the page of CODE (a code such as COH203, or its slug)."""
    from coherence.findings.registry import rule

    found = rule(code)
    domain = f"  ({found.domain})" if found.domain else ""
    click.echo(f"{found.code} {found.slug}{domain}\n\n{found.page}")
    return 0
