"""List every code with its one-sentence meaning."""

from __future__ import annotations

import json

import click


@click.command("rules")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(form: str) -> int:
    """List every code."""
    from coherence.findings.registry import question_pages

    pages = question_pages()
    if form == "json":
        rows = [{"code": r.code, "slug": r.slug, "summary": r.summary, "domain": r.domain} for r in pages]
        click.echo(json.dumps(rows, indent=2))
        return 0
    width = max(len(page.slug) for page in pages)
    for page in pages:
        click.echo(f"{page.code}  {page.slug:<{width}}  {page.summary}")
    return 0
