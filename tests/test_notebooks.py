"""The notebooks: pages of docs/ whose cells are executed, answer what the pages say, and show pictures."""

from __future__ import annotations

import importlib.util
from types import ModuleType
from typing import Any

import pytest

from tests.paths import ROOT

PAGE = """# A page
```python
>>> a = 1
>>> a + 1
2
>>> b = [
...     a]

```
The end.
"""


def _make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks_make", ROOT / "docs" / "notebooks" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE = _make()


def cell(text: str, *, picture: bool = False) -> dict[str, Any]:
    data = {"text/plain": [text], **({"image/png": "aGVsbG8="} if picture else {})}
    return {"cell_type": "code", "outputs": [{"output_type": "execute_result", "data": data}]}


def test_a_cell_ends_where_it_answers() -> None:
    assert list(MAKE.cells(PAGE)) == [
        ("markdown", "# A page", ""), ("code", "a = 1\na + 1", "2\n"), ("code", "b = [\n    a]", ""),
        ("markdown", "The end.", ""),
    ]  # fmt: skip


def test_another_answer_than_the_page_says_is_a_difference() -> None:
    words = {"cell_type": "markdown"}
    silent = {"cell_type": "code", "outputs": []}
    assert MAKE.differences(PAGE, {"cells": [words, cell("2"), silent, words]}) == []
    (difference,) = MAKE.differences(PAGE, {"cells": [words, cell("3"), silent, words]})
    assert difference.endswith("it answers:\n3\n")


def test_what_a_library_warns_of_is_no_answer() -> None:
    warned = cell("2")
    warned["outputs"].insert(0, {"output_type": "stream", "name": "stderr", "text": "TqdmWarning: IProgress not found"})
    assert MAKE.answer(warned) == "2\n"


def test_what_a_cell_draws_stands_below_its_session() -> None:
    text, pictures = MAKE.illustrated(PAGE, {"cells": [cell("2"), cell("", picture=True)]}, "page")
    assert pictures == {"page-1.png": b"hello"}
    assert text.index("![What the cell draws](page-1.png)") > text.index("... ")


def test_there_is_a_notebook_for_each_engine_and_each_user() -> None:
    engines = {"causal", "loops", "minimums", "simulate", "verify"}
    assert set(MAKE.PAGES) == {*engines, "tutorial-operator", "tutorial-researcher", "tutorial-reviewer"}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MAKE.PAGES))
def test_a_notebook_answers_what_its_page_says_and_shows_pictures(name: str) -> None:
    pytest.importorskip("nbclient", reason="pip install 'coherence-engine[docs]'")
    text = MAKE.PAGES[name].read_text(encoding="utf-8")
    notebook = MAKE.executed(text)
    assert MAKE.differences(text, notebook) == []
    shown = [data for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
             for kind, data in output.get("data", {}).items() if kind in ("image/png", "text/html")]  # fmt: skip
    assert any(not data.startswith("<") or "<img" in data for data in shown)
