"""Write notebooks: `python docs/notebooks/make.py FOLDER [NAME ...]` executes pages and writes NAME.ipynb there.

The pages are Markdown with Python sessions, as all of docs/, whose answers the tests compare; a notebook of one has its
cells, executed, with their tables and pictures.  Needs nbclient and ipykernel (the extra `docs`).
"""

from __future__ import annotations

import base64
import doctest
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent
PAGES = {path.stem: path for path in sorted([*(DOCS / "notebooks").glob("*.md"), *DOCS.glob("tutorial-*.md")])}
FENCE = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
SECONDS = 300  # for one cell


def main(arguments: list[str]) -> int:
    """Writes the notebooks that are named, or all."""
    unknown = [name for name in arguments[1:] if name not in PAGES]
    if not arguments or unknown:
        print(f"there is no {unknown[0]}: {', '.join(PAGES)}" if unknown else __doc__)
        return 2
    import nbformat

    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    different = 0
    for name in arguments[1:] or PAGES:
        text = PAGES[name].read_text(encoding="utf-8")
        notebook = executed(text)
        nbformat.write(notebook, folder / f"{name}.ipynb")
        for words in differences(text, notebook):
            print(f"{name}: {words}")
            different = 1
    return different


def cells(text: str) -> Iterator[tuple[str, str, str]]:
    """Yields the cells of a page in order: "markdown" or "code", its text, and what the page says that it answers."""
    for number, part in enumerate(FENCE.split(text)):
        if number % 2:
            yield from (("code", source, want) for source, want in sessions(part))
        elif part.strip():
            yield "markdown", part.strip(), ""


def sessions(fence: str) -> Iterator[tuple[str, str]]:
    """Yields the cells of a fence with their answers: each cell ends where it answers."""
    waiting = ""
    for example in doctest.DocTestParser().get_examples(fence):
        waiting += example.source
        if example.want:
            yield waiting.strip(), example.want
            waiting = ""
    if waiting:
        yield waiting.strip(), ""


def executed(text: str) -> Any:
    """Returns the notebook of a page, executed where the repository is.  Raises CellExecutionError."""
    import nbformat.v4 as form
    from nbclient import NotebookClient
    from traitlets.config import Config

    new = {"markdown": form.new_markdown_cell, "code": form.new_code_cell}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = form.new_notebook(
        cells=[new[kind](part, id=f"cell-{number}") for number, (kind, part, _) in enumerate(cells(text))],
        metadata={"kernelspec": kernel},
    )
    sockets = tempfile.TemporaryDirectory()  # of its own: two kernels of one folder take the same names
    files = Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets.name}/kernel"}})  # no port is opened
    place = {"metadata": {"path": str(DOCS.parent)}}
    with sockets:
        NotebookClient(notebook, timeout=SECONDS, resources=place, config=files).execute()
    return notebook


def differences(text: str, notebook: Mapping[str, Any]) -> list[str]:
    """Returns what the cells of a notebook answer otherwise than its page says."""
    check, loosely = doctest.OutputChecker().check_output, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    pairs = zip(cells(text), notebook["cells"], strict=True)
    answers = [(source, want, answer(cell)) for (kind, source, want), cell in pairs if kind == "code"]
    return [f"{source}\n-- the page says:\n{want}-- it answers:\n{got}" for source, want, got in answers
            if not check(want, got, loosely)]  # fmt: skip


def answer(cell: Mapping[str, Any]) -> str:
    """Returns what a cell printed and the text of its value, as a session shows them: no warnings of libraries."""
    shown = [output for output in cell["outputs"]
             if output["output_type"] in ("stream", "execute_result") and output.get("name") != "stderr"]  # fmt: skip
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in shown]
    return "".join(text if text.endswith("\n") else f"{text}\n" for text in map("".join, texts))


def illustrated(text: str, notebook: Mapping[str, Any], name: str) -> tuple[str, dict[str, bytes]]:
    """Returns a page with what its cells show below each session, and the pictures by the names of their files."""
    code = iter([cell for cell in notebook["cells"] if cell["cell_type"] == "code"])
    pictures = dict[str, bytes]()

    def shown(match: re.Match[str]) -> str:
        parts = [match[0]]
        for data in (output.get("data", {}) for _ in sessions(match[1]) for output in next(code)["outputs"]):
            if "image/png" in data:
                file = f"{name}-{len(pictures) + 1}.png"
                pictures[file] = base64.b64decode("".join(data["image/png"]))
                parts.append(f"![What the cell draws]({file})\n")
            elif "text/html" in data:
                parts.append(f"~~~{{raw}} html\n{''.join(data['text/html'])}\n~~~\n")
        return "\n".join(parts)

    return FENCE.sub(shown, text), pictures


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
