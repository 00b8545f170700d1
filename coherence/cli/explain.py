"""Explain one code: what it means, why it hurts, an example and what to write instead."""

from __future__ import annotations

import click


@click.command("explain")
@click.argument("code")
def command(code: str) -> int:
    """Print the page of CODE (a code such as COH203, or its slug)."""
    from coherence.findings.registry import question_page

    page = question_page(code)
    domain = f"  ({page.domain})" if page.domain else ""
    click.echo(f"{page.code} {page.slug}{domain}\n\n{page.page}")
    return 0
