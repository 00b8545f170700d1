"""Builds what the sections of a page share: tables, verdicts, commands, figures and notes."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherence.findings.finding import Finding, Verdict
from coherence.reporting.pictures.design_map import SIGNS
from coherence.reporting.pictures.markup import Child, Element, Rendered, Shown, h

if TYPE_CHECKING:
    from coherence.reporting.pictures.figure import Figure

NUMBER = "n"  # class of cells that are set flush right


def table(caption: str, header: Sequence[str], rows: Iterable[Sequence[Child]], *, numbers: str = "") -> Element:
    """Returns a table that scrolls by itself where it is too wide; `numbers`: the columns of numbers, as `2 3`."""
    right = {int(column) for column in numbers.split()}
    head = [h("th", name, scope="col", class_=NUMBER if at in right else None) for at, name in enumerate(header)]
    body = [
        h("tr", *(h("td", cell, class_=NUMBER if at in right else None) for at, cell in enumerate(row))) for row in rows
    ]
    inner = h("table", h("caption", caption), h("thead", h("tr", *head)), h("tbody", *body))
    return h("div", inner, class_="scroll", tabindex="0", role="group", aria_label=caption)


def badge(verdict: Verdict, text: str = "") -> Element:
    """Returns a verdict as a sign, a word and a colour."""
    return h("span", f"{SIGNS[verdict]} {text or verdict.value}", class_=f"badge {verdict.value}")


def reproduced(*words: str) -> Element:
    """Returns the command that gives the numbers of a section again."""
    line = shlex.join(("coherence", *words))
    return h("p", "Reproduce: ", h("code", line), class_="command")


def rounded(value: float, digits: int = 4, *, sign: bool = False) -> str:
    """Returns a number to so many digits, without an exponent below a billion: `16300`, `0.0123`, `+4.53`."""
    number = float(f"{value:.{digits}g}")
    return f"{number:+.9g}" if sign and number else f"{number:.9g}"


def note(text: str) -> Element:
    """Returns a remark in small letters."""
    return h("p", text, class_="note")


def pictured(picture: Rendered, caption: str, *, wide: bool = False) -> Element:
    """Returns a picture with what it shows; a wide one scrolls by itself."""
    holder = h(
        "div", picture, class_="scroll wide" if wide else "scroll", tabindex="0", role="group", aria_label=caption
    )
    return h("figure", holder, h("figcaption", caption))


def reference(anchor: str) -> Element:
    """Returns a link to a finding of the page."""
    return h("a", anchor, href=f"#{anchor}")


def joined(parts: Sequence[Child], separator: str = ", ") -> Element:
    """Returns parts in one line."""
    return h("span", *(child for at, part in enumerate(parts) for child in ((separator, part) if at else (part,))))


@dataclass(frozen=True)
class FigurePart:
    """A figure of panels inside a page; `name`: one that no other figure of the page has."""

    figure: Figure
    name: str

    def render(self, shown: Shown) -> str:
        """Returns the SVG of the figure."""
        from coherence.reporting.pictures.files import with_texts
        from coherence.reporting.pictures.svg import svg

        return svg(with_texts(self.figure, shown), within=self.name)


def verdict_text(finding: Finding) -> str:
    """Returns `conflict, certain` or `proved by simulation`."""
    if finding.verdict is Verdict.PROVED and finding.evidence.grade.value != "proved":
        return f"holds ({finding.evidence.grade.value})"
    return f"{finding.verdict.value}, {finding.certainty}" if finding.certainty else finding.verdict.value
