"""The command line as a user meets it: exit codes, outputs, hostile input, and what it may not import."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coherence.cli._help import commands
from coherence.cli._run import run
from tests.draws import few

CONFLICT = """coherence: 1
calls:
  - {from: app, to: api, deadline: 10 s, per_try: 5 s, tries: 4, retry_when: [timeout]}
"""
CLEAN = CONFLICT.replace("tries: 4", "tries: 2").replace("10 s", "11 s")
LOOP = """\
components: {web: {queue: 0 .. 9}}
loops: {a: {trigger: web.queue > 3, actuation: {signal: web.size, law: step, by: 1, bounds: [0, 9]}}}
"""
UNDECIDED = CONFLICT.replace("retry_when: [timeout]", "retry_when: [unavailable]")


@pytest.fixture
def design(tmp_path: Path) -> Path:
    path = tmp_path / "design.yaml"
    path.write_text(CONFLICT)
    return path


def test_exit_codes(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(design)]) == 1
    design.write_text(CLEAN)
    assert run(["check", str(design)]) == 0
    design.write_text(UNDECIDED)
    assert run(["check", str(design)]) == 0
    assert run(["check", str(design), "--strict"]) == 4
    assert run(["check", str(design.parent / "absent.yaml")]) == 2
    assert run(["check", str(design), "--fail-on", "nonsense"]) == 2
    assert run(["chek"]) == 2
    assert "did you mean 'check'?" in capsys.readouterr().err


def test_a_possible_conflict_fails_unless_errors_alone_are_asked_for(design: Path) -> None:
    design.write_text(CONFLICT.replace("per_try: 5 s", "per_try: 1 s .. 5 s"))
    assert run(["check", str(design)]) == 1
    assert run(["check", str(design), "--fail-on", "error"]) == 0
    assert run(["check", str(design), "--fail-on", "warning"]) == 1
    assert run(["check", str(design), "--fail-on", "never"]) == 0


def test_strict_counts_no_notes(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design.write_text(CLEAN + LOOP)
    assert run(["check", str(design), "--strict"]) == 0
    assert "Found 1 note, 1 proved." in capsys.readouterr().out


def test_a_design_about_which_no_question_answers_is_not_checked(
    design: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    design.write_text("coherence: 1\n" + LOOP)
    assert run(["check", str(design), "--strict"]) == 4
    assert capsys.readouterr().out.endswith("Checked nothing, no question answers about the design; 1 loop\n")
    assert run(["check", str(design)]) == 0
    assert run(["check", str(design), "--strict", "--select", "COH201"]) == 0
    capsys.readouterr()
    other = design.with_name("other.yaml")
    other.write_text(CLEAN)
    assert run(["check", str(design), str(other), "--strict", "-o", "json"]) == 4
    assert json.loads(capsys.readouterr().out)["counts"]["designs"] == {"total": 2, "unanswered": 1, "cut_short": 0}
    assert run(["check", str(design), str(other)]) == 0
    assert capsys.readouterr().out.endswith("; no question answers about 1 of 2 designs\n")


def test_select_and_ignore(design: Path) -> None:
    assert run(["check", str(design), "--select", "COH3"]) == 0
    assert run(["check", str(design), "--ignore", "COH201"]) == 0
    assert run(["check", str(design), "--select", "201"]) == 2


def test_several_outputs_of_one_run_are_byte_identical(design: Path, tmp_path: Path) -> None:
    texts = []
    for turn in ("a", "b"):
        files = {
            name: tmp_path / f"{turn}.{name}" for name in ("json", "sarif", "junit", "markdown", "github", "concise")
        }
        run(["check", str(design), *(w for name, file in files.items() for w in ("-o", f"{name}={file}"))])
        texts.append([file.read_bytes() for file in files.values()])
    assert texts[0] == texts[1]
    found = json.loads(texts[0][0])["findings"]
    assert [f["code"] for f in found if f["verdict"] == "conflict"] == ["COH201"]


def test_a_suppression_needs_a_reason(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mark = "retry_when: [timeout]}  # coherence: ignore[COH201]"
    design.write_text(CONFLICT.replace("retry_when: [timeout]}", mark))
    assert run(["check", str(design)]) == 1
    assert "COH103" in capsys.readouterr().out
    design.write_text(CONFLICT.replace("retry_when: [timeout]}", f"{mark} until=2999-01-01 owner=sre -- known"))
    assert run(["check", str(design)]) == 0
    design.write_text(CONFLICT.replace("retry_when: [timeout]}", f"{mark} until=2001-01-01 -- known"))
    assert run(["check", str(design)]) == 1
    assert "COH104" in capsys.readouterr().out
    design.write_text(CLEAN.replace("retry_when: [timeout]}", f"{mark} -- known"))
    run(["check", str(design)])
    assert "COH102" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["rules"], ["schema"], ["explain", "COH201"], ["explain", "budget-containment"]])
def test_commands_that_only_tell(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 0
    assert capsys.readouterr().out


def test_inventory_and_graph(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inventory", str(design)]) == 0
    assert "app -> api" in capsys.readouterr().out
    assert run(["inventory", str(design), "-o", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["policies"]
    assert all("COH201" in row["read by"] for row in rows if row["kind"] == "call")
    for form in ("mermaid", "dot", "graphml"):
        assert run(["graph", str(design), "-o", form]) == 0
        assert "api" in capsys.readouterr().out


def test_init_refuses_to_overwrite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "--from", "retry-storm"]) == 0
    assert run(["init"]) == 2
    assert run(["init", "--from", "nothing", "--to", "other.yaml"]) == 2


def test_help_lists_every_command_and_imports_next_to_nothing() -> None:
    script = (
        "import sys\nfrom coherence.__main__ import main\ntry: main(['--help'])\nfinally: print(sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert all(f"\n  {name} " in done.stdout for name in commands())
    assert not any(f"'{heavy}'" in done.stdout for heavy in ("click", "yaml", "numpy", "z3", "sympy", "dataclasses"))


def test_a_policy_check_imports_no_solver_and_no_arrays(design: Path) -> None:
    script = (
        f"import sys\nfrom coherence.cli._run import run\nrun(['check', {str(design)!r}])\nprint(sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy = ("z3", "numpy", "highspy", "sympy", "control", "pgmpy", "pandas", "matplotlib", "pydantic")
    assert not any(f"'{name}'" in done.stdout for name in heavy)


HOSTILE = {
    "bomb": "coherence: 1\na: &a [x, x, x, x, x, x, x, x, x, x]\n"
    + "\n".join(f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 10)}]" for i in range(9)),
    "cycle": "coherence: 1\nloops: &a [*a]\n",
    "deep flow": "coherence: 1\nloops: " + "[" * 50_000,
    "deep block": "coherence: 1\n" + "".join(f"{' ' * i}a:\n" for i in range(300)),
    "exponent": "coherence: 1\nlimits: {a: {counts: x.y, at_most: 1e999999999}}\n",
    "digits": f"coherence: 1\nlimits: {{a: {{counts: x.y, at_most: {'9' * 5000}}}}}\n",
    "nan": "coherence: 1\nlimits: {a: {counts: x.y, at_most: .nan}}\n",
    "duplicate": "coherence: 1\nloops: {}\nloops: {}\n",
    "path": "coherence: 1\nloops: {a: {uses: ../../etc/passwd}, b: {uses: /etc/passwd}}\n",
    "call": "coherence: 1\nloops: {a: {trigger: \"__import__('os').system('id') > 1\", actuation: {signal: a.b}}}\n",
    "tag": "coherence: 1\nsystem: !!python/object/apply:os.system [id]\n",
    "merge": "coherence: 1\nloops: {<<: {a: {}}}\n",
    "empty": "",
    "comment": "# nothing\n",
    "scalar": "coherence\n",
    "two": "coherence: 1\n---\ncoherence: 1\n",
    "zero period": "coherence: 1\nloops: {a: {timescale: {period: 0 s}, actuation: {signal: a.b, law: set, to: 1}}}\n",
    "self": "coherence: 1\ncomponents: {x: {a: b, b: a}}\nloops: {l: {timescale: {period: 1 s}, trigger: x.a > 1, "
    "actuation: {signal: x.c, law: step, by: 1}}}\n",
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_documents_get_a_clear_error(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hostile.yaml"
    path.write_text(HOSTILE[name])
    assert run(["check", str(path)]) == 2
    told = capsys.readouterr().err
    assert f"{path}:" in told
    assert "Traceback" not in told
    assert "internal error" not in told


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda t: ("coherence: 1\n" + t).encode("utf-8", "replace")))
@settings(max_examples=few(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any.yaml"
    path.write_bytes(data)
    assert run(["check", str(path)]) in (0, 1, 2)


def test_all_problems_at_once_with_place_value_and_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(
        "coherence: 1\n"
        'components: {power: {state: "p\' = 0.5 * p", step: 1 s, from: 1 kW}}\n'
        "loops:\n"
        "  throttle: {timescale: {period: 5}, trigger: p >= 80 s, actuation: {signal: batch.load, law: stepp}}\n"
        "  backfill: {uses: kubernetes_hap, trigger: not throttl, actuation: {sgnal: batch.load}}\n"
        "  Upper: {}\n"
        "promises: {calm: never thottle}\n"
    )
    assert run(["check", str(path)]) == 2
    told = capsys.readouterr().err
    for piece in (
        ":4:34: '5' is a bare number, a duration expected", "did you mean 'step'?", "(s) is compared with",
        "did you mean 'kubernetes_hpa'?", "did you mean 'throttle'?", "did you mean 'signal'?", "'Upper' is not a name",
        "8 problems",
    ):  # fmt: skip
        assert piece in told, (piece, told)
