"""Explain a code, a key of the language, a part or a word: what it means, in the words of its own declaration."""

from __future__ import annotations

from collections.abc import Iterator

import click


@click.command("explain")
@click.argument("name")
def command(name: str) -> int:
    """Print the page of NAME: a code or slug (COH203), a key of the language (hold_down, loops.timescale), a part
    (kubernetes_hpa), a word (failing), a domain (ai.07), or a topic (hybrid-cloud): which command answers it, what is
    refused and why.
    """
    from coherence.base.errors import UsageError
    from coherence.cli._width import print_text

    pages = list(_pages(name))
    if not pages:
        raise UsageError(f"there is no code, key, part, word, domain or topic '{name}': {_near(name)}")
    print_text("\n\n".join(pages))
    return 0


def _pages(name: str) -> Iterator[str]:
    """Yields every page of the name: a word may be a key and a part."""
    from coherence.findings.registry import question_pages
    from coherence.language.pages.part_pages import folders_of, part_page
    from coherence.language.pages.reference import keys_named, render_keys
    from coherence.language.pages.word_pages import word_page

    for page in question_pages():
        if name.upper() == page.code or name == page.slug:
            domain = f"  ({page.domain})" if page.domain else ""
            yield f"{page.code} {page.slug}{domain}\n\n{page.page}"
    if keys := keys_named(name):
        yield render_keys(keys)
    yield from (part_page(folder, name) for folder in folders_of(name))
    yield from (page for page in (word_page(name),) if page)
    yield from ("\n".join(page) for page in _of_topics(name))


def _of_topics(name: str) -> Iterator[Iterator[str]]:
    from coherence.findings.diagnostic_domains import domain, domains
    from coherence.findings.topics import domain_page, topic

    if name in domains():
        yield domain_page(domain(name))
    if (own := topic(name)) is not None:
        yield own.page()


def _near(name: str) -> str:
    from coherence.base.errors import did_you_mean
    from coherence.findings.diagnostic_domains import domains
    from coherence.findings.registry import question_pages
    from coherence.findings.topics import topic_words
    from coherence.language.pages.part_pages import part_names
    from coherence.language.pages.reference import declared_keys
    from coherence.language.pages.word_pages import counting_words

    codes = [word for page in question_pages() for word in (page.code, page.slug)]
    keys = [word for key in declared_keys() for word in (key.path, key.path.rpartition(".")[2])]
    return did_you_mean(name, [*codes, *keys, *part_names(), *domains(), *topic_words(), *counting_words()])
