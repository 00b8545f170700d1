"""Renders an assessment as one HTML file that stands alone: no script, no font, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from coherence.assessment.aliases import aliases
from coherence.assessment.parts.answers import Assessment
from coherence.assessment.sections import sections
from coherence.base.outside_text import visible
from coherence.base.version import VERSION
from coherence.reporting.pictures.drawing import palette
from coherence.reporting.pictures.markup import Child, Element, Shown, Verbatim, h

MARK = b'<meta name="generator" content="coherence'
TITLE = "Control coherence assessment"


def page(assessment: Assessment) -> str:
    """Returns the whole page."""
    shown: Shown = aliases(assessment) if assessment.anonymous else visible
    parts = list(_parts(assessment))
    head = h(
        "head",
        h("meta", charset="utf-8"),
        h("meta", name="generator", content=f"coherence {VERSION}"),
        h("meta", name="viewport", content="width=device-width, initial-scale=1"),
        h("meta", name="color-scheme", content="light dark"),
        h("title", f"{assessment.system}: {TITLE.lower()}"),
        h("style", Verbatim(palette() + _style())),
    )
    body = h("body", _header(assessment), _contents(parts), h("main", *(_section(*part) for part in parts)), _footer())
    return "<!DOCTYPE html>\n" + h("html", head, body, lang="en").render(shown) + "\n"


def _style() -> str:
    return files(__package__).joinpath("page.css").read_text(encoding="utf-8")


def _parts(assessment: Assessment) -> Iterator[tuple[str, str, tuple[Child, ...]]]:
    """Yields name, title and content of each section that says something."""
    for module in sections():
        content = tuple(module.section(assessment))
        if content:
            yield module.__name__.rpartition(".")[2], module.TITLE, content


def _section(name: str, title: str, content: tuple[Child, ...]) -> Element:
    return h("section", h("h2", title, id=f"{name}-title"), *content, id=name, aria_labelledby=f"{name}-title")


def _header(assessment: Assessment) -> Element:
    summary = assessment.design.summary
    lines: list[Child] = [h("p", TITLE, class_="kicker"), h("h1", assessment.system)]
    if summary and not assessment.anonymous:
        lines.append(h("p", summary.text, class_="lead"))
    return h("header", *lines)


def _contents(parts: list[tuple[str, str, tuple[Child, ...]]]) -> Element:
    links = [h("li", h("a", title, href=f"#{name}")) for name, title, _ in parts]
    return h("nav", h("ol", *links), aria_label="Contents")


def _footer() -> Element:
    words = f"coherence {VERSION}. The same input, options and versions of the engines give the same bytes."
    return h("footer", h("p", words))
