"""The cache is never wrong and never in the way; `--watch` tells each change in a line."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import InputError
from coherence.checking import cache, design_check, watch
from coherence.checking.input_files import input_files
from coherence.checking.reports import ask, check, report
from coherence.checking.workspace import open_workspace
from coherence.cli import _watch
from coherence.cli._run import run
from coherence.findings.finding import Finding, Report, Verdict
from coherence.language.reading import read_text
from tests.draws import few

DESIGN = "coherence: 1\ncalls:\n  - {from: a, to: b, deadline: 10 s, per_try: 5 s, tries: 4, retry_when: [timeout]}\n"


@pytest.fixture
def design(tmp_path: Path) -> Path:
    path = tmp_path / "d.yaml"
    path.write_text(DESIGN)
    return path


def answers(text: str = DESIGN) -> design_check.Answers:
    return design_check.analyse(read_text(text, "d"), {"d": text}, lambda s: read_text(s["d"], "d"))


def stored(folder: Path) -> list[Path]:
    """Returns the files of a cache beside its marker."""
    return [path for path in folder.iterdir() if path.name != cache.MARKER]


def test_answers_come_back_as_they_were(tmp_path: Path) -> None:
    store, made = cache.Cache(str(tmp_path / "c")), answers()
    store.put("k", made)
    assert store.get("k") == made
    assert [f.evidence for f in made.findings] == [f.evidence for f in (store.get("k") or made).findings]
    assert store.get("other") is None


def test_outputs_are_the_same_with_and_without(design: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    outputs = []
    for turn, words in enumerate(([], [], ["--no-cache"])):
        files = [tmp_path / f"{turn}.{name}" for name in ("json", "sarif", "text")]
        run(["check", str(design), *words, *(w for f in files for w in ("-o", f"{f.suffix[1:]}={f}"))])
        outputs.append([file.read_bytes() for file in files])
    assert outputs[0] == outputs[1] == outputs[2]
    assert len(stored(tmp_path / "xdg" / "coherence" / "answers")) == 1


def test_a_second_check_asks_nothing(design: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = cache.Cache(str(tmp_path / "c"))
    first = report(open_workspace([design]), answering=store.answers)
    monkeypatch.setattr("coherence.checking.cache.ask", lambda *_, **__: pytest.fail("it was asked again"))
    assert report(open_workspace([design]), answering=store.answers).findings == first.findings
    design.write_text(DESIGN.replace("10 s", "11 s"))
    with pytest.raises(pytest.fail.Exception):
        report(open_workspace([design]), answering=store.answers)


@pytest.mark.parametrize("damage", [b"", b"x", b"0" * 64 + b"\n[]", b"\xff" * 100])
def test_a_damaged_file_is_not_believed(design: Path, tmp_path: Path, damage: bytes) -> None:
    store = cache.Cache(str(tmp_path / "c"))
    good = report(open_workspace([design]), answering=store.answers)
    (kept,) = stored(tmp_path / "c")
    kept.write_bytes(damage)
    assert report(open_workspace([design]), answering=store.answers).findings == good.findings
    kept.write_bytes(kept.read_bytes().replace(b"conflict", b"proved__"))
    assert report(open_workspace([design]), answering=store.answers).findings == good.findings


def test_a_right_sum_over_wrong_data_is_not_believed_either(tmp_path: Path) -> None:
    store = cache.Cache(str(tmp_path))
    wrong: list[object] = [
        [],
        {"Answers": []},
        {"Place": ["f", 1]},
        {"Nothing": []},
        {"Answers": [[], 1, []], "Place": []},
    ]
    for data in wrong:
        body = json.dumps(data).encode()
        (tmp_path / "k").write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        assert store.get("k") is None


def _forged(data: object) -> bytes:
    body = json.dumps(data).encode()
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


WRONG = st.sampled_from(
    [None, True, -1, 0, 10**40, "", "\ud800", [], [None], {"float": "nan"}, {"Fraction": ["1", "3"]}]
)


@pytest.mark.slow
@settings(max_examples=few(80), deadline=None)
@given(st.data())
def test_a_forged_part_is_answered_with_a_value_of_its_type_or_not_at_all(data: st.DataObject) -> None:
    whole = cache.encoded(answers())
    parts = list(_lists(whole))
    one = data.draw(st.sampled_from(parts))
    one[data.draw(st.integers(0, len(one) - 1))] = data.draw(WRONG)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "k").write_bytes(_forged(whole))
        got = cache.Cache(folder).get("k")
    if got is not None:
        assert cache.fits(got, design_check.Answers)
        assert str(got)
        assert {f.severity.name for f in got.findings} <= {"ERROR", "WARNING", "INFO"}


def _lists(data: object) -> Iterator[list[object]]:
    """Every list of the data that is not empty."""
    if isinstance(data, list) and data:
        yield data
    for item in data if isinstance(data, list) else data.values() if isinstance(data, dict) else ():
        yield from _lists(item)


@pytest.mark.parametrize("wrong", [{"Answers": [[3], 1, []]}, "numbers", "places"])
def test_a_forged_answer_never_stops_a_check(
    design: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: object
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert run(["check", str(design)]) == 1
    (kept,) = stored(tmp_path / "xdg" / "coherence" / "answers")
    data = json.loads(kept.read_bytes().partition(b"\n")[2])
    if wrong == "numbers":
        data["Answers"][0] = [1, 2, 3]
    elif wrong == "places":
        data["Answers"][0][0]["Finding"][5][0]["Place"][1:5] = [10**9, 10**9, 10**9, 10**9]
    kept.write_bytes(_forged(wrong if isinstance(wrong, dict) else data))
    assert run(["check", str(design)]) == 1
    assert run(["check", str(design), "-o", "json"]) == 1


def test_a_folder_that_cannot_be_written_is_no_trouble(design: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    made = report(open_workspace([design]), answering=cache.Cache(str(tmp_path / "file" / "below")).answers)
    assert made.findings == check(design).findings


def test_answers_that_the_clock_cut_short_are_not_kept(tmp_path: Path) -> None:
    made, store = answers(), cache.Cache(str(tmp_path))
    store.put("of the whole", replace(made, cut_short=True))
    first = made.findings[0]
    short = replace(first, verdict=Verdict.UNDECIDED, evidence=replace(first.evidence, cut_short=True))
    store.put("of one finding", replace(made, findings=(short,)))
    assert not stored(tmp_path)
    store.put("whole", made)
    assert len(stored(tmp_path)) == 1


def test_words_do_not_decide_what_is_kept(tmp_path: Path) -> None:
    made = answers()
    told = replace(made.findings[0], verdict=Verdict.UNDECIDED, message="the time limit of worker is not stated")
    cache.Cache(str(tmp_path)).put("k", replace(made, findings=(told,)))
    assert len(stored(tmp_path)) == 1


CUT = ("idle-reaper-repaired", "latency-throughput", "saver-filler", "wrong-sign")
SLOW = {"idle-reaper-repaired", "throttle-backfill-repaired"}
LIMITED = [
    pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW))
    for name in (*CUT, "hpa-startup-cpu", "throttle-backfill-repaired")
]


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITED)
def test_an_answer_that_a_limit_changes_is_marked(name: str) -> None:
    (entry,) = open_workspace([Path("specs") / name / "design.yaml"]).entries
    whole, *short = (
        ask(entry, {"select": (), "ignore": (), "time_limit": limit, "verify_repairs": False, "thorough": False})
        for limit in (60.0, 0.0005, 0.02, 0.1)  # the first ends by itself, on a busy machine too
    )
    assert short[0].cut_short
    for made in short:
        assert made.cut_short or [_told(f) for f in made.findings] == [_told(f) for f in whole.findings]
        if made.cut_short:
            known = {_told(f) for f in whole.findings}
            changed = [f for f in made.findings if _told(f) not in known]
            assert all(f.evidence.cut_short for f in changed if not f.verdict.decides)


def _told(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.verdict, finding.message


def test_the_key_holds_texts_names_options_and_the_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {
        cache.key_of({"d": "1"}, {}),
        cache.key_of({"d": "2"}, {}),
        cache.key_of({"e": "1"}, {}),
        cache.key_of({"d": "1"}, {"select": ("COH2",)}),
    }
    monkeypatch.setattr(cache, "tool", lambda: "another")
    assert len(keys | {cache.key_of({"d": "1"}, {})}) == 5


def test_old_answers_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_FILES", 3)
    store, made = cache.Cache(str(tmp_path)), answers()
    keys = [str(number) * 64 for number in range(6)]
    for number, key in enumerate(keys):
        store.put(key, made)
        os.utime(tmp_path / key, (number, number))
        (tmp_path / f"foreign{number}").write_text("mine", encoding="utf-8")
    foreign = {f"foreign{number}" for number in range(6)}
    assert {path.name for path in tmp_path.iterdir()} == {"CACHEDIR.TAG", *keys[3:], *foreign}
    assert store.get(keys[5]) == made


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ("a" * 64)).write_text("not ours", encoding="utf-8")
    cache.Cache(str(tmp_path)).put("b" * 64, answers())
    assert [path.name for path in tmp_path.iterdir()] == ["a" * 64]


@pytest.mark.parametrize(("set_to", "base"), [("/x/y", "/x/y"), ("relative", "~/.cache"), ("", "~/.cache")])
def test_the_folder_is_the_users(monkeypatch: pytest.MonkeyPatch, set_to: str, base: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", set_to)
    assert Path(cache.folder()) == Path(base).expanduser() / "coherence" / "answers"


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.fractions(), st.floats(allow_nan=False))


@pytest.mark.slow
@settings(max_examples=few(60), deadline=None)
@given(st.recursive(LEAVES, lambda inner: st.one_of(st.lists(inner).map(tuple), st.dictionaries(st.text(), inner))))
def test_every_value_survives(data: object) -> None:
    again = cache.decoded(json.loads(json.dumps(cache.encoded(data))))
    assert again == data
    assert repr(again) == repr(data)


def test_a_change_is_seen_once_and_told_in_a_line(
    design: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = iter([DESIGN.replace("tries: 4", "tries: 1"), "coherence: 1\nnonsense: 1\n", DESIGN])

    def sleep(seconds: float) -> None:
        if seconds < watch.EVERY:
            return
        text = next(steps, None)
        if text is None:
            raise KeyboardInterrupt
        design.write_text(text)
        os.utime(design, ns=(0, hash(text) % 10**15))

    seen = watch.changes([str(design)], watch.stamp([str(design)]), sleep=sleep)
    monkeypatch.setattr(_watch, "changes", lambda *_: seen)
    assert _watch.watched([str(design)], lambda: check(design), lambda _: None) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "start: 1 problem, 1 new, 0 gone" in lines[0]
    assert "d.yaml: 0 problems, 0 new, 1 gone" in lines[1]
    assert "not checked" in lines[2]
    assert lines[3].startswith("  new: ")
    assert "d.yaml: 1 problem, 1 new, 0 gone" in lines[4]


def test_a_watched_design_is_asked_again_where_it_changed(design: Path) -> None:
    memory = watch.FileTimes()
    other = "  - {from: c, to: d, deadline: 30 s, per_try: 5 s, tries: 4, retry_when: [timeout]}\n"
    for text in (DESIGN, DESIGN + other, DESIGN.replace("10 s", "25 s") + other, DESIGN):
        design.write_text(text)
        assert report(open_workspace([design]), answering=memory.answers) == check(design)


def test_a_stamp_survives_what_is_not_there(tmp_path: Path) -> None:
    assert watch.stamp([str(tmp_path / "absent.yaml")]) == ((str(tmp_path / "absent.yaml"), 0, 0, 0),)
    assert Fraction(1, 2) == cache.decoded({"Fraction": ["1", "2"]})


def test_each_later_report_is_kept_and_equal_problems_are_counted(
    design: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second call of the same names has the same fingerprint; it is a problem more, and the files tell it."""
    twice = DESIGN + "".join(line + "\n" for line in DESIGN.splitlines() if "tries: 4" in line)
    monkeypatch.setattr(_watch, "changes", lambda *_: iter([(str(design),)]))
    shown: list[int] = []
    kept: list[int] = []

    def checked() -> Report:
        made = check(design)
        design.write_text(twice)
        return made

    def number(made: Report) -> int:
        return sum(one.verdict is Verdict.CONFLICT for one in made.findings)

    _watch.watched([str(design)], checked, lambda r: shown.append(number(r)), lambda r: kept.append(number(r)))
    assert (shown, kept) == ([1], [2])
    assert "d.yaml: 2 problems, 1 new, 0 gone" in capsys.readouterr().out


def test_a_pipe_in_a_folder_is_passed_by_and_a_device_has_an_end(tmp_path: Path, design: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    assert set(input_files([design.parent]).explicit) >= {str(design)}
    assert str(tmp_path / "pipe.yaml") not in set(input_files([tmp_path]).explicit)
    with pytest.raises(InputError, match="more than 8000000 bytes"):
        open_workspace(["/dev/zero"])
