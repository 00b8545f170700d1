"""Serves an editor by the Language Server Protocol, over standard input and output."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from coherence.base.places import Place
from coherence.base.version import VERSION
from coherence.editing.check_process import checked
from coherence.editing.diagnostics import HINT, Diagnostic, titles
from coherence.editing.suggestions import Suggestion, hover, suggestions
from coherence.findings.finding import Edit
from coherence.findings.repairs import lines_of

if TYPE_CHECKING:
    from pygls.workspace import TextDocument

REST = 0.3  # s without a change before a text is checked
SEVERITIES = {
    "error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information, HINT: types.DiagnosticSeverity.Hint,
}  # fmt: skip


@dataclass
class Checks:
    """The check of each open text that waits or runs, and for each the last text that was checked, with its answer."""

    tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    answers: dict[str, tuple[str, tuple[Diagnostic, ...]]] = field(default_factory=dict)
    turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))  # one process at a time

    def stop(self, uri: str) -> None:
        """Ends the check of a text."""
        if uri in self.tasks:
            self.tasks.pop(uri).cancel()


def server() -> LanguageServer:
    """Returns the server, not yet started."""
    editor = LanguageServer("coherence", VERSION, text_document_sync_kind=types.TextDocumentSyncKind.Full)
    checks = Checks()
    _serve_texts(editor, checks)
    _serve_suggestions(editor)
    _serve_repairs(editor, checks)
    return editor


def _serve_texts(editor: LanguageServer, checks: Checks) -> None:
    @editor.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        _begin(editor, checks, params.text_document.uri, 0.0)

    @editor.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        _begin(editor, checks, params.text_document.uri, REST)

    @editor.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        checks.stop(uri)
        checks.answers.pop(uri, None)
        editor.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def _begin(editor: LanguageServer, checks: Checks, uri: str, rest: float) -> None:
    checks.stop(uri)
    checks.tasks[uri] = asyncio.get_running_loop().create_task(_check(editor, checks, uri, rest))


async def _check(editor: LanguageServer, checks: Checks, uri: str, rest: float) -> None:
    """Checks a text once it rests, and publishes the answer; a change of the text cancels this."""
    await asyncio.sleep(rest)
    text = editor.workspace.get_text_document(uri)
    source, version = text.source, text.version
    async with checks.turn:
        answer = await checked(source, text.filename or "design.yaml")
    checks.answers[uri] = (source, answer)
    published = [_diagnostic(text, diagnostic) for diagnostic in answer]
    editor.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, published, version))


def _diagnostic(text: TextDocument, diagnostic: Diagnostic) -> types.Diagnostic:
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(text.uri, _range(text, place)), place.label or "belongs to it"
        )
        for place in diagnostic.others
    ]
    return types.Diagnostic(
        range=_range(text, diagnostic.place), message=diagnostic.message, severity=SEVERITIES[diagnostic.severity],
        code=diagnostic.code or None, source="coherence", related_information=related,
        tags=[types.DiagnosticTag.Unnecessary] if diagnostic.severity == HINT else None,
    )  # fmt: skip


def _range(text: TextDocument, place: Place) -> types.Range:
    """Returns a place in the units of the editor: lines from 0, columns in its encoding."""
    start = types.Position(place.line - 1, place.column - 1)
    end = types.Position(place.end_line - 1, place.end_column - 1)
    return text.position_codec.range_to_client_units(lines_of(text.source), types.Range(start, end))


def _at(text: TextDocument, position: types.Position) -> tuple[int, int]:
    """Returns the line and column, from 1, of a position in the units of the editor."""
    place = text.position_codec.position_from_client_units(lines_of(text.source), position)
    return place.line + 1, place.character + 1


def _serve_suggestions(editor: LanguageServer) -> None:
    @editor.feature(types.TEXT_DOCUMENT_HOVER)
    def words(params: types.HoverParams) -> types.Hover | None:
        text = editor.workspace.get_text_document(params.text_document.uri)
        markdown = hover(text.source, *_at(text, params.position))
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, markdown)) if markdown else None

    @editor.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[" ", "{"]))
    def complete(params: types.CompletionParams) -> types.CompletionList:
        text = editor.workspace.get_text_document(params.text_document.uri)
        items = [_completion(word) for word in suggestions(text.source, *_at(text, params.position))]
        return types.CompletionList(is_incomplete=False, items=items)


def _completion(word: Suggestion) -> types.CompletionItem:
    kind = types.CompletionItemKind.Field if word.is_key else types.CompletionItemKind.Value
    written = f"{word.label}: " if word.is_key else word.label
    return types.CompletionItem(
        word.label, detail=word.detail, documentation=word.words or None, kind=kind, insert_text=written
    )


def _serve_repairs(editor: LanguageServer, checks: Checks) -> None:
    @editor.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix]))
    def repairs(params: types.CodeActionParams) -> list[types.CodeAction]:
        text = editor.workspace.get_text_document(params.text_document.uri)
        source, answer = checks.answers.get(text.uri, ("", ()))
        if source != text.source:  # its edits have other places by now
            return []
        return [
            action
            for each in answer
            if _meets(_range(text, each.place), params.range)
            for action in _actions(text, each)
        ]


def _actions(text: TextDocument, diagnostic: Diagnostic) -> list[types.CodeAction]:
    return [
        types.CodeAction(
            title, types.CodeActionKind.QuickFix, [_diagnostic(text, diagnostic)],
            edit=types.WorkspaceEdit({text.uri: [_edit(text, edit) for edit in repair.edits]}),
        )
        for title, repair in titles(diagnostic)
    ]  # fmt: skip


def _edit(text: TextDocument, edit: Edit) -> types.TextEdit:
    return types.TextEdit(_range(text, edit.place), edit.new)


def _meets(first: types.Range, second: types.Range) -> bool:
    return first.start.line <= second.end.line and second.start.line <= first.end.line
