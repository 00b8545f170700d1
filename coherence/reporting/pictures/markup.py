"""Builds HTML and SVG as trees of elements; every text of a tree is escaped when the tree is rendered.

A text may come from outside (names, messages, sources): it is shown with controls as escapes and credentials masked,
and can become neither an element nor an attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Protocol, TypeAlias

from coherence.base.outside_text import visible

Shown: TypeAlias = Callable[[str], str]  # how a text is shown
READ = frozenset({"aria-label", "content", "title"})  # attributes whose value is text for people
VOID = frozenset({"meta", "br", "hr", "wbr", "col"})


class Rendered(Protocol):
    """What stands in a tree: it is told how texts are shown and returns markup."""

    def render(self, shown: Shown) -> str: ...


Child: TypeAlias = "str | Rendered"


@dataclass(frozen=True)
class Element:
    """An element with its attributes and children; a child that is a string is text."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: tuple[Child, ...] = ()

    def render(self, shown: Shown = visible) -> str:
        """Returns the markup, with each text as `shown` shows it."""
        shows = {name: shown if name in READ else visible for name in self.attributes}
        marks = "".join(f' {name}="{escape(shows[name](value))}"' for name, value in self.attributes.items())
        inner = "".join(
            escape(shown(child), quote=False) if isinstance(child, str) else child.render(shown)
            for child in self.children
        )
        return f"<{self.name}{marks}>{inner}" + ("" if self.name in VOID else f"</{self.name}>")


@dataclass(frozen=True)
class Verbatim:
    """Markup of our own that holds nothing from outside, such as a style sheet."""

    text: str

    def render(self, shown: Shown) -> str:  # noqa: ARG002  (there is no text in it)
        """Returns the markup as it is."""
        return self.text


def h(name: str, /, *children: Child, **attributes: object) -> Element:
    """Returns an element; `class_` is class, `text_anchor` is text-anchor, and an attribute that is None is left out.

    A number is written with at most two decimals, as coordinates are.
    """
    pairs = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    return Element(name, {key: _attribute(value) for key, value in pairs.items()}, children)


def _attribute(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
