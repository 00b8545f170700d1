"""Hostile files through every command that reads one: a message and an exit code, never a traceback, never a hang.

Each run is one of a table: a file that nobody meant (bytes, encodings, nesting, sizes, numbers, shapes, links) and a
command with its file in that place.  What is refused is refused with exit 2 and a message that is no internal error;
what is read is answered.
"""

from __future__ import annotations

import itertools
import os
import resource
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from coherence.cli._run import run

GOOD = "coherence: 1\ncomponents: {web: {copies: 2}}\ncalls: [{from: users, to: web, deadline: 2 s, tries: 3}]\n"
SECONDS, BYTES = 100.0, 1 << 30  # of processor (most take 20 ms, none 3 s) and of memory, for one run
QUICK = ("check", "import")  # readers that are tried in every test run


def _nested(opening: str, closing: str, depth: int) -> str:
    return opening * depth + closing * depth


def _anchors(depth: int) -> bytes:
    """A document of 9 ^ depth values in a few lines."""
    names = [b"a", *(b"b%d" % number for number in range(depth))]
    lines = (b"%s: &%s [%s]\n" % (own, own, b", ".join([b"*" + below] * 9)) for below, own in itertools.pairwise(names))
    return b"".join(lines)


FILES: dict[str, bytes] = {
    "empty": b"",
    "spaces": b" \n\t\n",
    "nul": b"coherence: 1\x00\n",
    "random": bytes(range(256)) * 40,
    "png": b"\x89PNG\r\n\x1a\n" + bytes(200),
    "gzip": b"\x1f\x8b\x08\x00" + bytes(60),
    "utf16": GOOD.encode("utf-16"),
    "utf32": GOOD.encode("utf-32"),
    "bom": b"\xef\xbb\xbf" + GOOD.encode(),
    "crlf": GOOD.replace("\n", "\r\n").encode(),
    "lone_cr": GOOD.replace("\n", "\r").encode(),
    "latin1": "coherence: 1\nsystem: caf\xe9\n".encode("latin-1"),
    "surrogate": b"coherence: 1\nsystem: \xed\xa0\x80\n",
    "escape": b"coherence: 1\nsystem: \x1b]0;pwned\x07\n",
    "deep_lists": b"coherence: 1\nnote: " + _nested("[", "]", 5000).encode(),
    "deep_maps": b"coherence: 1\nnote: " + _nested("{a: ", "}", 5000).encode(),
    "deep_json": _nested('{"a":', "}", 5000).encode(),
    "deep_formula": f"coherence: 1\npromises: {{p: {'(' * 3000}1{')' * 3000} <= 2}}\n".encode(),
    "anchors": b"a: &a [x, x, x]\n" + _anchors(12),
    "self_anchor": b"coherence: 1\ncomponents: &a {web: *a}\n",
    "merge": b"coherence: 1\nx: &x {a: 1}\ncomponents: {web: {<<: *x}}\n",
    "tags": b'coherence: 1\nsystem: !!python/object/apply:os.system ["true"]\n',
    "several": GOOD.encode() + b"---\n" + GOOD.encode(),
    "scalar": b"coherence\n",
    "list": b"- 1\n- 2\n",
    "numeric_keys": b"1: 2\n3: {4: 5}\n",
    "nan": b"coherence: 1\ncomponents: {web: {copies: .nan, load: nan, x: .inf}}\n",
    "huge_number": b"coherence: 1\ncomponents: {web: {copies: " + b"9" * 20_000 + b"}}\n",
    "huge_exponent": b"coherence: 1\ncomponents: {web: {copies: 1e999999999, load: 1e-999999999 s}}\n",
    "huge_word": b"coherence: 1\nsystem: " + b"a" * 2_000_000 + b"\n",
    "many_keys": b"coherence: 1\ncomponents:\n" + b"".join(b"  c%d: {copies: 1}\n" % i for i in range(300)),
    "wrong_shapes": b"coherence: [1]\nloops: 3\ncalls: {a: b}\ntimers: [x]\npromises: {p: [1]}\nplaces: {a: 1}\n",
    "null_shapes": b"coherence: 1\nloops: {a: null}\ncalls: [null]\ntimers: {t: null}\nlimits: {l: null}\n",
    "kube_shapes": b"kind: HorizontalPodAutoscaler\napiVersion: autoscaling/v2\nmetadata: [1]\nspec: {metrics: 3}\n",
    "kube_null": b"apiVersion: apps/v1\nkind: Deployment\nmetadata: null\nspec: null\n",
    "kube_list": b"apiVersion: v1\nkind: List\nitems: [1, null, {kind: Deployment}, {kind: List, items: 3}]\n",
    "helm": b"apiVersion: v1\nkind: Pod\nmetadata: {{ .Values.name }}\nspec: {}\n",
    "plan": b'{"format_version": "1.2", "planned_values": {"root_module": {"resources": [1, {"type": 3}]}}}',
    "nginx": b"http { upstream a { server b; } server { location / { proxy_pass http://a; proxy_next_upstream_tries}\n",
    "haproxy": b"defaults\n  timeout client 99999999999999999999d\nbackend a\n  server s 1.2.3.4:9999999 check inter\n",
    "csv": b"time,a,a\n1,2\n3,4,5,6\nnan,inf,-inf\n" + b'"open,1\n',
}  # fmt: skip
READERS: dict[str, list[str]] = {
    "check": ["check", "FILE"],
    "check for machines": ["check", "FILE", "-o", "json"],
    "analyze": ["analyze", "FILE"],
    "simulate": ["simulate", "FILE", "--for", "1 s"],
    "sweep": ["sweep", "FILE", "-p", "calls.0.tries=1:2:2"],
    "region": ["region", "FILE", "-p", "calls.0.tries=1:2"],
    "bound": ["bound", "FILE"],
    "inventory": ["inventory", "FILE"],
    "graph": ["graph", "FILE"],
    "export": ["export", "FILE", "--as", "json"],
    "import": ["import", "all", "FILE"],
    "overlay": ["overlay", "FILE"],
    "fit design": ["fit", "FILE", "--telemetry", "FILE"],
    "fit telemetry": ["fit", "GOOD", "--telemetry", "FILE"],
    "fit requests": ["fit", "GOOD", "--telemetry", "TIMES", "--requests", "FILE"],
    "baseline": ["check", "GOOD", "--baseline", "FILE"],
    "reproduce": ["reproduce", "FILE", "--dry-run"],
    "report": ["report", "FILE", "-o", "PAGE"],
    "repair": ["check", "FILE", "--diff"],
    "diff": ["diff", "GOOD", "FILE", "-s", "COH201"],
    "network": ["analyze", "--network", "FILE"],
    "series": ["analyze", "--series", "FILE"],
    "rank": ["rank", "FILE", "--incident", "0..1"],
    "calls": ["rank", "TIMES", "--incident", "1..2", "--calls", "FILE"],
    "reproduce on a proxy": ["reproduce", "FILE", "--with", "nginx", "--dry-run", "--into", "MADE"],
    "experiments": ["reproduce", "FILE", "--experiment", "all"],
    "watch": ["watch", "FILE", "--rules", "RULES"],
    "since": ["diff", "KEPT", "--since", "HEAD", "-s", "COH201", "--time-limit", "2"],
    "check since": ["check", "KEPT", "--since", "HEAD", "-s", "COH201"],
    "ledger": ["fit", "GOOD", "--telemetry", "TIMES", "--ledger", "FILE"],
}  # fmt: skip


def words_of(reader: str, file: Path) -> list[str]:
    folder = file.parent
    (folder / "good.yaml").write_text(GOOD, encoding="utf-8")
    (folder / "times.csv").write_text("time,web.load\n0,1\n1,2\n2,3\n", encoding="utf-8")
    places = {
        "FILE": file, "GOOD": folder / "good.yaml", "TIMES": folder / "times.csv", "PAGE": folder / "page.html",
        "MADE": folder / "made", "RULES": folder / "rules.yaml",
    }  # fmt: skip
    if "KEPT" in READERS[reader]:
        places["KEPT"] = _kept(file)
    return [str(places.get(word, word)) for word in READERS[reader]]


def _kept(file: Path) -> Path:
    """Returns a good design that was the hostile file at the last commit of its repository, if git takes that."""
    repository = file.parent / "repository"
    repository.mkdir(exist_ok=True)
    design = repository / "design.yaml"
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    if file.is_file() and os.access(file, os.R_OK):
        design.write_bytes(file.read_bytes())
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "--allow-empty", "-m", "a"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    design.write_text(GOOD, encoding="utf-8")
    return design


def suffixes(name: str) -> Iterator[str]:
    yield ".csv" if name == "csv" else ".json" if name in ("deep_json", "plan") else ".yaml"
    if name in ("nginx", "haproxy"):
        yield ".conf" if name == "nginx" else ".cfg"


@pytest.mark.parametrize(
    "reader",
    [reader if reader in QUICK else pytest.param(reader, marks=pytest.mark.slow) for reader in sorted(READERS)],
)
@pytest.mark.parametrize("name", sorted(FILES))
def test_a_hostile_file_is_answered_or_refused(
    name: str, reader: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for suffix in suffixes(name):
        file = tmp_path / f"{name}{suffix}"
        file.write_bytes(FILES[name])
        before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        code = run(words_of(reader, file))
        spent = time.process_time() - began
        captured = capsys.readouterr()
        assert code in (0, 1, 2, 4), captured.err
        assert "Traceback" not in captured.err + captured.out
        assert "internal error" not in captured.err
        assert "\x1b]" not in captured.out + captured.err
        assert code != 2 or captured.err.strip() or captured.out.strip()
        assert spent < SECONDS
        assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < BYTES


@pytest.mark.slow
@pytest.mark.parametrize("reader", sorted(READERS))
def test_links_in_a_circle_folders_and_devices_are_refused(
    reader: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    circle, folder = tmp_path / "circle.yaml", tmp_path / "folder.yaml"
    circle.symlink_to(circle)
    folder.mkdir()
    (folder / "again").symlink_to(folder)
    secret = tmp_path / "secret.yaml"
    secret.write_text(GOOD, encoding="utf-8")
    secret.chmod(0)
    for file in (circle, folder, Path(os.devnull), secret, tmp_path / "nosuch.yaml"):
        code = run(words_of(reader, file) if file != Path(os.devnull) else ["check", os.devnull])
        captured = capsys.readouterr()
        assert code in (0, 1, 2, 4), captured.err
        assert "internal error" not in captured.err


WORDS = ("", " ", "\x00", "\x1b]0;pwned\x07", "../../etc/passwd", "$(id)", "--upload-pack=id", "-o", "\udcff",
         "a" * 100_000, "HEAD:design.yaml", "HEAD..HEAD", "@{-1}", "%s%n", "__class__", "COH" + "9" * 5000,
         "\u202e")  # fmt: skip
TAKING = {
    "explain": ["explain", "--", "WORD"],
    "experiment": ["reproduce", "GOOD", "--experiment=WORD"],
    "proxy": ["reproduce", "GOOD", "--with=WORD"],
    "diff since": ["diff", "KEPT", "--since=WORD", "-s", "COH201"],
    "report since": ["report", "KEPT", "--since=WORD", "-o", "PAGE", "--time-limit", "1"],
    "check since": ["check", "KEPT", "--since=WORD", "-s", "COH201"],
    "schema": ["schema", "--of=WORD"],
    "in": ["check", "GOOD", "--in=WORD"],
    "memory": ["rules", "--memory=WORD"],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("taking", sorted(TAKING))
def test_hostile_words_are_refused_with_a_message(
    taking: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    good = tmp_path / "good.yaml"
    good.write_text(GOOD, encoding="utf-8")
    places = {"GOOD": str(good), "KEPT": str(_kept(good)), "PAGE": str(tmp_path / "page.html")}
    for hostile in WORDS:
        code = run([places.get(word, word.replace("WORD", hostile)) for word in TAKING[taking]])
        captured = capsys.readouterr()
        assert code in (0, 1, 2), (hostile[:40], captured.err[:300])
        assert "Traceback" not in captured.err + captured.out
        assert "internal error" not in captured.err, (hostile[:40], captured.err[:300])
        assert "\x1b]" not in captured.out + captured.err
        assert code != 2 or captured.err.strip()
