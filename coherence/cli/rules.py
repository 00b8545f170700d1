"""List every code with its one-sentence meaning."""

from __future__ import annotations

import json

import click


@click.command("rules")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(form: str) -> int:
    """List every code."""
    from coherence.findings.registry import rules

    found = rules()
    if form == "json":
        rows = [{"code": r.code, "slug": r.slug, "summary": r.summary, "domain": r.domain} for r in found]
        click.echo(json.dumps(rows, indent=2))
        return 0
    width = max(len(rule.slug) for rule in found)
    for rule in found:
        click.echo(f"{rule.code}  {rule.slug:<{width}}  {rule.summary}")
    return 0
