"""The server over standard input and output, as an editor speaks to it: JSON-RPC with headers."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from queue import Queue
from typing import Any

import pytest

pytest.importorskip("pygls", reason="pip install 'coherence-engine[lsp]'")

PATIENCE = 600  # s: a check takes one of processor; this ends a test that hangs, and is no measure of speed
DESIGN = """\
coherence: 1
components: {web: {takes: {serve: 200 ms}}}
calls:
  - {note: "größer 😀", from: users, to: web, deadline: 2 s, per_try: 1500 ms, tries: 3}
loops:
  hpa:
    uses: kubernetes_hpa
    timescale:
      hold
"""
URI = "file:///work/design.yaml"
CONFLICT = DESIGN[: DESIGN.index("loops")]


class Editor:
    """One end of the protocol."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "coherence", "lsp"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.answers: Queue[dict[str, Any] | None] = Queue()  # None: the server has ended
        self.number, self.early = 0, list[dict[str, Any]]()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        while header := self.process.stdout.readline():
            size = int(header.split(b":")[1]) if header.lower().startswith(b"content-length") else 0
            while self.process.stdout.readline().strip():
                pass
            self.answers.put(json.loads(self.process.stdout.read(size)))
        self.answers.put(None)

    def ended(self) -> int:
        """Waits for the end of the server; returns its code."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        self.process.stdout.close()
        return code

    def send(self, method: str, params: Any, **more: Any) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def next(self) -> dict[str, Any]:
        answer = self.answers.get(timeout=PATIENCE)
        assert answer is not None, "the server has ended"
        return answer

    def ask(self, method: str, params: Any) -> Any:
        self.number += 1
        self.send(method, params, id=self.number)
        while True:
            answer = self.next()
            if answer.get("id") == self.number and "method" not in answer:
                assert "error" not in answer, answer
                return answer.get("result")
            self.early.append(answer)

    def published(self, version: int) -> list[dict[str, Any]]:
        """The diagnostics of one version of the text."""
        while True:
            answer = self.early.pop(0) if self.early else self.next()
            if answer.get("method") == "textDocument/publishDiagnostics" and answer["params"].get("version") == version:
                diagnostics: list[dict[str, Any]] = answer["params"]["diagnostics"]
                return diagnostics


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    own = Editor()
    capabilities: dict[str, Any] = {"general": {"positionEncodings": ["utf-16"]}}
    offers = own.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})["capabilities"]
    assert offers["hoverProvider"]
    assert offers["codeActionProvider"]["codeActionKinds"] == ["quickfix"]
    own.send("initialized", {})
    yield own
    own.ask("shutdown", None)
    own.send("exit", None)
    assert own.ended() == 0


def document(version: int) -> dict[str, Any]:
    return {"uri": URI, "version": version}


@pytest.mark.slow
def test_findings_come_while_typing_and_a_repair_removes_one(editor: Editor) -> None:
    opened = {**document(1), "languageId": "yaml", "text": CONFLICT}
    editor.send("textDocument/didOpen", {"textDocument": opened})
    (finding,) = [it for it in editor.published(1) if it.get("code") == "COH201"]
    assert finding["range"]["start"]["line"] == 3
    assert finding["source"] == "coherence"
    asked = {"textDocument": {"uri": URI}, "range": finding["range"], "context": {"diagnostics": [finding]}}
    (action,) = [it for it in editor.ask("textDocument/codeAction", asked) if "600 ms (proved)" in it["title"]]
    text = changed(CONFLICT, action["edit"]["changes"][URI])
    assert text == CONFLICT.replace("1500 ms", "600 ms")
    editor.send("textDocument/didChange", {"textDocument": document(2), "contentChanges": [{"text": text}]})
    assert editor.ask("textDocument/codeAction", asked) == []  # the places are those of another text by now
    assert not [it for it in editor.published(2) if it.get("code") == "COH201"]


@pytest.mark.slow
def test_faults_of_the_text_words_and_completions(editor: Editor) -> None:
    uri = URI.replace("design", "second")
    opened = {"uri": uri, "version": 7, "languageId": "yaml", "text": DESIGN}
    editor.send("textDocument/didOpen", {"textDocument": opened})
    assert {fault["severity"] for fault in editor.published(7)} == {1}

    def at(line: int, character: int) -> dict[str, Any]:
        return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}

    items = editor.ask("textDocument/completion", at(8, 10))["items"]
    assert {"period: ", "hold_down: "} <= {item["insertText"] for item in items}
    labels = {item["label"] for item in editor.ask("textDocument/completion", at(6, 10))["items"]}
    assert "kubernetes_hpa" in labels
    whole = DESIGN.replace("      hold\n", "      hold_down: 5 min\n")
    change = {"textDocument": {"uri": uri, "version": 8}, "contentChanges": [{"text": whole}]}
    editor.send("textDocument/didChange", change)
    assert "In SI: 300 s" in editor.ask("textDocument/hover", at(8, 20))["contents"]["value"]
    assert "from: " in editor.ask("textDocument/hover", at(6, 14))["contents"]["value"]  # the sources of a part
    assert "`calls.deadline`" in editor.ask("textDocument/hover", at(3, 57))["contents"]["value"]
    editor.send("textDocument/didClose", {"textDocument": {"uri": uri}})


@pytest.mark.slow
def test_an_editor_that_goes_away_ends_the_server() -> None:
    own = Editor()
    own.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    own.ended()


def changed(text: str, edits: list[dict[str, Any]]) -> str:
    """The text after edits within lines, the last first; columns are those of UTF-16."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda it: it["range"]["start"]["line"] * 10_000 + it["range"]["start"]["character"],
                       reverse=True):  # fmt: skip
        line, low = edit["range"]["start"].values()
        units = lines[line].encode("utf-16-le")
        high = edit["range"]["end"]["character"]
        lines[line] = (units[: 2 * low] + edit["newText"].encode("utf-16-le") + units[2 * high :]).decode("utf-16-le")
    return "\n".join(lines)
