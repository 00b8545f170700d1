"""Build the documentation site: `python docs/site/make.py FOLDER [NOTEBOOKS]` writes pages and HTML there; warnings
are errors.

The pages of docs/ stand beside those that the program holds itself: codes, parts, bounds, commands, the language and
the verbs of Python.  NOTEBOOKS: a folder that `python docs/notebooks/make.py NOTEBOOKS` has written: what its cells
show then stands in their pages, with the notebooks to be downloaded.  Nothing is fetched.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import pkgutil
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCS, ROOT = HERE.parent, HERE.parent.parent
WHOLE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")  # of the repository, beside those of docs/
FAMILIES = {"1": "Designs", "2": "Policies", "3": "Loops", "4": "Telemetry", "5": "Infrastructure", "6": "Minimums",
            "7": "Auditability"}  # fmt: skip
GUIDES = ("tutorial-operator", "tutorial-reviewer", "tutorial-researcher")


def main(arguments: list[str]) -> int:
    """Writes the sources below the folder and builds them.  Returns the exit code of Sphinx."""
    if len(arguments) not in (1, 2):
        print(__doc__)
        return 2
    source, built = Path(arguments[0]) / "source", Path(arguments[0]) / "html"
    shutil.rmtree(source, ignore_errors=True)
    write_sources(source, Path(arguments[1]) if len(arguments) > 1 else None)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(source), str(built)]
    return subprocess.run(command, check=False).returncode


def write_sources(source: Path, notebooks: Path | None = None) -> None:
    """Writes every page as Markdown, and the index with the tables of contents."""
    source.mkdir(parents=True)
    shutil.copy(HERE / "conf.py", source)
    pages = {str(path.relative_to(DOCS)): path for path in sorted(DOCS.rglob("*.md")) if path.name != "index.md"}
    pages |= {name: ROOT / name for name in WHOLE}
    shutil.copytree(DOCS / "images", source / "images", ignore=shutil.ignore_patterns("*.py"))
    for name, path in pages.items():
        text = _relinked(path.read_text(encoding="utf-8"), path, source / name, source)
        _write(source / name, _illustrated(text, path, source / name, notebooks) if notebooks else text)
    held = {title: dict(write()) for title, write in HELD.items()}
    for title, entries in held.items():
        for name, text in entries.items():
            _write(source / title.lower().replace(" ", "-") / f"{name}.md", text)
    _write(source / "index.md", _index([name.removesuffix(".md") for name in pages], held))


def _illustrated(text: str, page: Path, target: Path, notebooks: Path) -> str:
    """Returns a page with what its notebook shows, and copies the notebook and its pictures beside it."""
    file, made = notebooks / f"{target.stem}.ipynb", runpy.run_path(str(DOCS / "notebooks" / "make.py"))
    if made["PAGES"].get(target.stem) != page or not file.exists():  # guides have names of notebooks
        return text
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target.parent)
    shown, pictures = made["illustrated"](text, json.loads(file.read_text(encoding="utf-8")), target.stem)
    for name, picture in pictures.items():
        (target.parent / name).write_bytes(picture)
    return f"{shown}\n{{download}}`This page as a notebook <{file.name}>`\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _relinked(text: str, path: Path, target: Path, source: Path) -> str:
    """Returns a page whose links lead to pages of the site; files that are no page are named instead."""

    def link(match: re.Match[str]) -> str:
        words, to, mark = match[1], match[2], match[3] or ""
        there = (path.parent / to).resolve()
        for base in (DOCS, ROOT):
            own = source / there.relative_to(base) if there.is_relative_to(base) else None
            is_page = there.suffix == ".md" and (base is DOCS or there in {ROOT / name for name in WHOLE})
            if own is not None and (is_page or there.is_relative_to(DOCS / "images")):
                return f"[{words}]({os.path.relpath(own, target.parent)}{mark})"
        return words if "`" in words else f"{words} (`{there.relative_to(ROOT)}`)"

    return re.sub(r"\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)", link, text)


def _index(pages: list[str], held: Mapping[str, Mapping[str, str]]) -> str:
    """Returns the first page: what is here, in five tables of contents."""
    first = [name for name in GUIDES if name in pages]
    decisions = [name for name in pages if name.startswith("adr/")]
    notebooks = [name for name in pages if name.startswith("notebooks/")]
    rest = [name for name in pages if name not in {*first, *decisions, *notebooks}]
    parts = ["# coherence", "Checks a combination of control loops before it is deployed.",
             _contents("Tutorials", first), _contents("Notebooks", notebooks), _contents("Guides", rest)]  # fmt: skip
    for title, entries in held.items():
        folder = title.lower().replace(" ", "-")
        parts.append(_contents(title, [f"{folder}/{name}" for name in entries]))
    return "\n\n".join([*parts, _contents("Decisions", decisions)]) + "\n"


def _contents(title: str, names: list[str]) -> str:
    listed = "\n".join(names)
    return f"```{{toctree}}\n:caption: {title}\n:maxdepth: 1\n\n{listed}\n```"


Held = Callable[[], Iterator[tuple[str, str]]]


def codes() -> Iterator[tuple[str, str]]:
    """Yields a page for each family of codes, with the page of each code."""
    from coherence.findings.registry import question_pages

    for family, members in groupby(question_pages(), key=lambda page: page.code[3]):
        texts = [f"## {page.code} {page.slug}\n\n{_lowered(page.page)}" for page in members]
        yield f"COH{family}", _joined(f"COH{family}xx: {FAMILIES[family]}", texts)


def parts() -> Iterator[tuple[str, str]]:
    """Yields a page for each folder of parts, with the page of each part."""
    from coherence.language import catalogue
    from coherence.language.pages.part_pages import part_page

    for folder in catalogue.FOLDERS:
        texts = [f"## {name}\n\n{_literal(part_page(folder, name))}" for name in catalogue.parts(folder)]
        yield folder, _joined(f"Parts: {folder}", texts)


def bounds() -> Iterator[tuple[str, str]]:
    """Yields a page for each group of bounds: pages, formulas, inputs and assumptions."""
    from coherence.minimums.registry import entries
    from coherence.minimums.report import page

    groups: dict[str, list[str]] = {}
    for name, entry in entries().items():
        listed = "\n".join(page(entry)).removeprefix(entry.page).strip("\n")
        text = f"## {name}\n\n{_lowered(entry.page)}\n\n{_literal(listed)}"
        groups.setdefault(entry.bound.group, []).append(text)
    for group, texts in sorted(groups.items()):
        yield group.replace(" ", "-"), _joined(f"Bounds: {group}", texts)


def commands() -> Iterator[tuple[str, str]]:
    """Yields the options of all commands."""
    import click

    from coherence import cli

    texts = []
    for info in pkgutil.iter_modules(cli.__path__):
        if not info.name.startswith("_"):
            command = importlib.import_module(f"coherence.cli.{info.name}").command
            with click.Context(command, info_name=f"coherence {command.name}", max_content_width=100) as context:
                texts.append(f"## coherence {command.name}\n\n{_literal(command.get_help(context))}")
    yield "commands", _joined("Commands and their options", texts)


def python_verbs() -> Iterator[tuple[str, str]]:
    """Yields the signatures and the words of all names of `import coherence`."""
    import coherence

    texts = []
    for name in coherence.__all__:
        thing = getattr(coherence, name)
        shape = f"{name}{inspect.signature(thing)}" if inspect.isfunction(thing) else name
        texts.append(f"## {name}\n\n```python\n{shape}\n```\n\n{_literal(inspect.getdoc(thing) or '')}")
    yield "names", _joined("Names of import coherence", texts)


def _joined(title: str, texts: list[str]) -> str:
    return "\n\n".join([f"# {title}", *texts]) + "\n"


def _lowered(text: str) -> str:
    """Returns Markdown with its headings one level lower."""
    return re.sub(r"^(#+) ", r"#\1 ", text, flags=re.MULTILINE)


def _literal(text: str) -> str:
    """Returns a text that keeps its lines, whatever fences it holds."""
    return f"~~~~text\n{text}\n~~~~"


HELD: dict[str, Held] = {
    "Codes": codes, "Commands": commands, "Python": python_verbs, "Parts": parts, "Bounds": bounds,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
