"""List every code with its one-sentence meaning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from coherence.cli._output import Output, output_option, put_out

if TYPE_CHECKING:
    from coherence.findings.finding import QuestionPage


@click.command("rules")
@output_option("text", "json")
def command(output: Sequence[Output]) -> int:
    """List every code."""
    from coherence.findings.registry import question_pages

    pages = question_pages()
    put_out(output, lambda form: _rendered(form, pages))
    return 0


def _rendered(form: str, pages: Sequence[QuestionPage]) -> str:
    from coherence.door.result import head

    if form == "json":
        rows = [{"code": r.code, "slug": r.slug, "summary": r.summary, "domain": r.domain} for r in pages]
        return json.dumps({**head("rules"), "rules": rows}, indent=2) + "\n"
    width = max(len(page.slug) for page in pages)
    return "".join(f"{page.code}  {page.slug:<{width}}  {page.summary}\n" for page in pages)
