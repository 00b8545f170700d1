"""`coherence fit` as a user types it: every option, its exit codes, and input that is wrong or odd."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coherence.causal.data.series import Floats
from coherence.cli._run import run
from tests.paths import SPECS

SPEC = SPECS / "loss-attribution"
ROWS, STEP = 400, 10.0
CHAIN = """coherence: 1
components:
  loader: {wait: disk.reads * cost, cost: 0 .. 10}
  trainer: {step_time: loader.wait * weight, weight: 0 .. 10}
"""
FLEET = """coherence: 1
workload: {chat: {rate: 300 req/s}}
infrastructure: {tiers: {h100: {count: 10, rate_chat: 50 req/s}}}
components: {network: {stall: 0 .. 9}, h100: {barrier: network.stall * spread, spread: 0 .. 9}}
loops:
  backfill:
    timescale: {period: 1 min}
    trigger: true
    actuation: {signal: batch.running, law: step, by: 1}
    logs: [reading, action]
prices: {h100: 2 usd/h}
"""


@dataclass(frozen=True)
class Answered:
    """What one call of the command gave."""

    code: int
    out: str
    err: str

    def section(self, title: str) -> str:
        """The text of the section whose title begins so."""
        found = [one for one in self.out.split("\n\n") if any(line.startswith(title) for line in one.split("\n"))]
        assert found, f"no section '{title}' in:\n{self.out}"
        return found[0]

    @property
    def sections(self) -> dict[str, Any]:
        """Sections of JSON by title."""
        return {one["title"]: one for one in json.loads(self.out, parse_constant=_no_such_number)["sections"]}


def _no_such_number(text: str) -> float:
    raise AssertionError(f"{text} is no JSON")


class Asking:
    """Writes a design and its telemetry, and asks the command."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys
        self.design, self.telemetry = folder / "design.yaml", folder / "telemetry.csv"

    def write(
        self,
        columns: Mapping[str, Sequence[object] | Floats],
        *,
        design: str = CHAIN,
        times: Sequence[object] | None = None,
    ) -> None:
        self.design.write_text(design)
        length = len(next(iter(columns.values())))
        moments = times if times is not None else [STEP * row for row in range(length)]
        with self.telemetry.open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["time", *columns])
            out.writerows(zip(moments, *columns.values(), strict=True))

    def __call__(self, *words: str, design: Path | None = None, full: bool = True) -> Answered:
        self.capsys.readouterr()
        code = run(["fit", str(design or self.design), *words, *(["--full"] if full else [])])
        told = self.capsys.readouterr()
        assert "internal error" not in told.err, told.err
        assert "Traceback" not in told.err
        return Answered(code, told.out, told.err)

    def told(self, *words: str, full: bool = True) -> Answered:
        """Asked with the telemetry that was written."""
        return self("--telemetry", str(self.telemetry), *words, full=full)


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asking:
    return Asking(tmp_path, capsys)


def chain(rows: int = ROWS, seed: int = 1) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    reads = 5 + rng.normal(0, 1, rows)
    wait = 2 * reads + rng.normal(0, 0.3, rows)
    return {"disk.reads": reads, "loader.wait": wait, "trainer.step_time": 1.5 * wait + rng.normal(0, 0.5, rows)}


def fleet(rows: int = ROWS, seed: int = 1) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    stall = 2 + rng.normal(0, 0.3, rows)
    barrier = np.round(0.5 * stall + rng.normal(0, 0.05, rows), 3)
    useful = np.round(6 + rng.normal(0, 0.1, rows), 3)
    return {
        "network.stall": stall, "h100.barrier": barrier, "h100.useful": useful, "h100.launch": np.full(rows, 0.5),
        "h100.idle_slack": np.round(9.5 - barrier - useful, 3),
    }  # fmt: skip


def share(found: Mapping[str, Any], cause: str) -> float:
    return float(next(one for one in found["shares"] if one["cause"] == cause)["amount"]["value"])


# -- the shipped example ------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_example_finds_its_true_causes(ask: Asking) -> None:
    """Truth by the laws of make.py: 57.6 of the network, 50.0 of chat, 34.4 of prompts, 4.2 of the backup."""
    words = ["--telemetry", str(SPEC / "telemetry.csv"), "--requests", str(SPEC / "requests.csv"), "-o", "json"]
    found = ask(*words, design=SPEC).sections
    shares = found["Shares of L_struct, against every cause at 0"]
    truth = {"network.stall": 57.59, "chat.attempts": 49.97, "prompts.length": 34.42, "h100.barrier": 4.24}
    for one in shares["shares"]:
        if one["cause"] in truth:
            assert one["amount"]["low"] <= truth[one["cause"]] <= one["amount"]["high"]
    assert shares["sum_error"] < 1e-12
    ledger = found["Where device time went"]
    assert ledger["L_struct"] == pytest.approx(shares["measured"]["value"], rel=1e-4), "the first rows have no past"
    codes = [one["code"] for one in found["Design against telemetry"]["findings"]]
    assert codes.count("COH401") == 1
    indices = {one["name"]: one for one in found["Indices of coordination"]["indices"]}
    assert indices["DI"]["value"] == pytest.approx(0.12, abs=2e-3)
    assert indices["HCL"]["value"] == pytest.approx(1 - 1 / 1.12, abs=1e-3)


def test_the_example_is_what_its_script_makes() -> None:
    import importlib.util

    spec = importlib.util.spec_from_file_location("made", SPEC / "make.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    rng = np.random.default_rng(11)
    signals = made.signals(rng)
    with (SPEC / "telemetry.csv").open() as file:
        rows = list(csv.DictReader(file))
    for name, levels in signals.items():
        assert [float(row[name]) for row in rows] == pytest.approx(levels, abs=6e-4)
    assert sum(one.stat().st_size for one in SPEC.glob("*.csv")) < 400_000


@pytest.mark.slow
def test_the_example_ranks_its_incident(ask: Asking) -> None:
    words = ["--telemetry", str(SPEC / "telemetry.csv"), "--rank", "L_struct", "--window", "12900..13800"]
    found = ask(*words, design=SPEC)
    lines = found.section("Root causes of L_struct").split("\n")
    assert any(line.strip().startswith("1. network.stall") for line in lines)
    assert any("chance has the cause among the first 3 of 15 in 20 %" in line for line in lines)


# -- options ------------------------------------------------------------------------------------------


def test_the_shares_of_a_signal(ask: Asking) -> None:
    ask.write(chain())
    found = ask.told("--loss", "trainer.step_time", "-o", "json")
    assert found.code == 0
    shares = found.sections["Shares of trainer.step_time, against every cause at 0"]
    assert share(shares, "disk.reads") == pytest.approx(15, rel=0.05)
    text = ask.told("--loss", "trainer.step_time")
    assert "disk.reads" in text.section("Shares of trainer.step_time")
    assert text.code == 0


@pytest.mark.parametrize(
    ("words", "title", "line"),
    [
        (["--do", "disk.reads=1"], "If disk.reads were 1", "trainer.step_time"),
        (["--against", "0..2000"], "trainer.step_time: what changed since", "change"),
        (["--reference", "disk.reads=5"], "Shares of trainer.step_time, against", "disk.reads"),
        (["--window", "0..2000"], "Influences", "fitted on 198 rows of 10 s"),
        (["--bootstrap", "40"], "Bootstrap beside the jackknife", "40 draws of 10 batches"),
        (["--bootstrap", "3"], "Bootstrap beside the jackknife", "refused: an interval needs 20 draws or more"),
        (["--step", "20"], "Influences", "of 20 s"),
        (["--rank", "trainer.step_time", "--window", "3000..3400"], "Root causes of trainer.step_time", "simple rules"),
        (
            ["--rank", "trainer.step_time", "--window", "0..400"],
            "Root causes of trainer.step_time",
            "refused: 0 normal",
        ),
        (["--stream"], "Design against telemetry", "not tested on streamed telemetry"),
    ],
)
def test_each_option_answers(ask: Asking, words: list[str], title: str, line: str) -> None:
    ask.write(chain())
    found = ask.told("--loss", "trainer.step_time", *words)
    assert found.code == 0
    assert line in found.section(title)


def test_one_change_of_an_option_changes_the_answer(ask: Asking) -> None:
    ask.write(chain())
    found = ask.told("--do", "disk.reads=1", "--loss", "trainer.step_time", "-o", "json")
    levels = {one["signal"]: one["level"]["value"] for one in found.sections["If disk.reads were 1"]["signals"]}
    assert levels["trainer.step_time"] == pytest.approx(3.0, abs=0.5)
    assert levels["disk.reads"] == 1


@pytest.mark.slow
def test_one_screen_begins_with_its_answer_and_says_what_it_leaves_out(ask: Asking) -> None:
    rng = np.random.default_rng(1)
    causes = {f"part{n}.load": 5 + rng.normal(0, 1, ROWS) for n in range(9)}
    weights = {name: 1.0 + n for n, name in enumerate(causes)}
    loss = sum(weight * causes[name] for name, weight in weights.items()) + rng.normal(0, 0.5, ROWS)
    terms = " + ".join(f"{name} * w{n}" for n, name in enumerate(causes))
    constants = ", ".join(f"w{n}: 0 .. 20" for n in range(9))
    ask.write(
        {**causes, "job.wait": loss}, design=f"coherence: 1\ncomponents: {{job: {{wait: {terms}, {constants}}}}}\n"
    )
    screen = ask.told("--loss", "job.wait", full=False)
    lines = screen.out.split("\n")
    assert lines[0].startswith("job.wait is ")
    assert "part8.load makes " in lines[0]
    assert lines[0].endswith(" % is unexplained.")
    shown = [line.split()[0] for line in screen.section("Shares").split("\n")[2:]]
    assert shown[:7] == [*(f"part{n}.load" for n in (8, 7, 6, 5, 4)), "unexplained", "measured"]
    assert "and 4 smaller" in screen.out
    assert "more with --full: every row and note; What makes job.wait vary" in screen.out
    assert len(lines) <= 40
    assert "part0.load" in ask.told("--loss", "job.wait").section("Shares")


def test_one_screen_has_one_line_for_a_finding(ask: Asking) -> None:
    columns = chain()
    columns["loader.wait"] = -columns["loader.wait"]
    ask.write(columns)
    screen, whole = ask.told(full=False), ask.told()
    assert screen.code == whole.code == 1
    assert sum("COH402" in line for line in screen.out.split("\n")) == 2  # both influences of the middle
    assert "evidence:" in whole.out
    assert "evidence:" not in screen.out


def test_a_change_is_the_headline_where_it_is_asked_for(ask: Asking) -> None:
    columns = chain()
    columns["trainer.step_time"][200:] += 4
    ask.write(columns)
    screen = ask.told("--loss", "trainer.step_time", "--against", "0..1990", "--window", "2000..4000", full=False)
    assert screen.out.startswith("trainer.step_time went from ")
    assert "trainer.step_time" in screen.out.split("\n")[0].partition(": ")[2]


def test_the_rate_of_errors_is_stated_and_may_be_chosen(ask: Asking) -> None:
    ask.write(chain())
    assert "seen: at a false-discovery rate of 5%" in ask.told().out
    assert "2 seen (familywise 1 %)" in ask.told("--familywise", "1%", full=False).out
    found = ask.told("--familywise", "0.01", "-o", "json")
    assert found.sections["Influences"]["seen_at"] == {"familywise": 0.01}
    for word in ("0", "2", "1%%", "x", "nan"):
        assert "--familywise" in ask.told("--familywise", word).err


@pytest.mark.slow
def test_the_bootstrap_is_the_same_for_any_number_of_jobs(ask: Asking) -> None:
    ask.write(chain())
    words = ["--loss", "trainer.step_time", "--bootstrap", "60", "-o", "json"]
    one, two = ask.told(*words), ask.told(*words, "--jobs", "2")
    assert one.sections["Bootstrap beside the jackknife"] == two.sections["Bootstrap beside the jackknife"]
    for row in one.sections["Bootstrap beside the jackknife"]["estimates"]:
        assert row["bootstrap"][0] <= row["value"] <= row["bootstrap"][1]


def test_the_bootstrap_goes_on_from_its_file(ask: Asking) -> None:
    ask.write(chain())
    file = ask.folder / "draws.jsonl"
    words = ["--loss", "trainer.step_time", "--bootstrap", "60", "-o", "json"]
    first, again = (ask.told(*words, "--into", str(file)) for _ in range(2))
    assert first.sections == again.sections == ask.told(*words).sections
    assert len(file.read_text(encoding="utf-8").splitlines()) == 4, "a head, and each part once"


def test_a_picture_is_drawn(ask: Asking) -> None:
    ask.write(fleet(), design=FLEET)
    file = ask.folder / "fit.svg"
    assert ask.told("--picture", str(file)).code == 0
    text = file.read_text()
    for words in ("Fitted influences", "Shares of L_struct", "From C_nom to C_eff"):
        assert words in text


def test_json_is_the_same_on_repetition(ask: Asking) -> None:
    ask.write(fleet(), design=FLEET)
    words = ["--bootstrap", "40", "--rank", "h100.barrier", "--window", "3000..3400", "-o", "json"]
    assert ask.told(*words) == ask.told(*words)


# -- the ledger ---------------------------------------------------------------------------------------


def test_the_ledger_of_telemetry(ask: Asking) -> None:
    made = fleet()
    ask.write(made, design=FLEET)
    found = ask.told("-o", "json").sections
    ledger = found["Where device time went"]
    assert ledger["C_nom"] == 500
    assert ledger["C_eff"] == pytest.approx(50 * made["h100.useful"].mean(), rel=1e-9)
    lost = 50 * (made["h100.barrier"].mean() + 0.5)
    assert ledger["L_struct"] == pytest.approx(lost, rel=1e-9)
    demanded = 500 - 50 * made["h100.idle_slack"].mean()
    assert ledger["U_struct"]["value"] == pytest.approx(lost / demanded, rel=1e-9)
    assert ledger["mode"] == "cost"
    assert ledger["money"]["cost"] == pytest.approx(10 * 2 * ROWS * STEP / 3600)
    shares = found["Shares of L_struct, against every cause at 0"]
    assert share(shares, "network.stall") == pytest.approx(50, rel=0.1)
    assert share(shares, "h100.launch") == pytest.approx(25, rel=1e-9), "what never changes is lost all the same"


def test_states_without_a_signal_are_told_with_their_interval(ask: Asking) -> None:
    made = fleet()
    del made["h100.idle_slack"], made["h100.launch"]
    ask.write(made, design=FLEET)
    found = ask.told()
    rest = 1 - (made["h100.barrier"] + made["h100.useful"]).mean() / 10
    ledger = found.section("Where device time went")
    assert f"{100 * rest:.1f} % of device time has no state signal: it counts as unlabelled" in ledger
    assert "if it were idle for want of demand, " in ledger
    audit = found.section("What is logged")
    assert "states of h100 that are not told" in audit
    assert f"{10 * rest * ROWS * STEP / 3600:.4g}" in audit
    assert "backfill: its decisions cannot be told afterwards: its log lacks read_at and target and cause" in audit


def test_the_ledger_of_a_log(ask: Asking) -> None:
    ask.write(chain(), design=FLEET)
    log = ask.folder / "log.csv"
    rows = [f"h100/{unit},useful,chat,0,60\nh100/{unit},barrier,,60,100" for unit in range(10)]
    log.write_text("\n".join(["device,state,class,start,end", *rows]) + "\n")
    ledger = ask.told("--ledger", str(log), "-o", "json").sections["Where device time went"]
    assert (ledger["C_nom"], ledger["C_eff"]) == (500, pytest.approx(300))
    assert ledger["types"]["A"]["share_of"]["provisioned"]["value"] == pytest.approx(0.4)
    assert ledger["mode"] == "throughput"
    told = ask.told("--ledger", str(log), "--window", "1000..2000").section("Where device time went")
    assert "refused: no interval of the log lies in 1000..2000 s" in told


def test_states_that_cannot_be_are_refused(ask: Asking) -> None:
    made = fleet()
    ask.write({**made, "h100.useful": made["h100.useful"] + 1}, design=FLEET)
    found = ask.told()
    assert found.code == 0
    told = found.section("Where device time went")
    assert "refused: the states of h100 add up to 11 devices" in told
    assert "U_struct" not in told


def test_a_fleet_that_is_not_stated_is_asked_for(ask: Asking) -> None:
    ask.write(fleet(), design=FLEET.replace("rate_chat: 50 req/s", "size: 1"))
    told = ask.told().section("Where device time went")
    assert "refused: write infrastructure.tiers.<tier>.rate_chat" in told


# -- requests -----------------------------------------------------------------------------------------


def test_requests_without_an_entitlement_ask_for_it(ask: Asking) -> None:
    ask.write(chain())
    found = ask.told("--requests", str(SPEC / "requests.csv"))
    assert found.code == 0
    told = found.section("Indices of coordination")
    assert "measure how many servers the latency class may claim (`entitlement` of its workload)" in told
    assert "HCL" in told
    assert "refused" in found.section("Queueing")


def test_a_log_with_another_word_for_completed_and_an_empty_line(ask: Asking) -> None:
    ask.write(fleet(), design=FLEET)
    requests = ask.folder / "requests.csv"
    requests.write_text("arrival,need,end,outcome,colour\n0,1,1.5,ok,red\n\n1,1,2.5,ok,red\n\n")
    told = ask.told("--requests", str(requests)).section("Indices")
    assert "every request: no outcome is 'completed', they are 'ok'" in told
    assert "column 'colour': no index reads it" in told


def test_a_window_without_requests_is_told(ask: Asking) -> None:
    ask.write(chain())
    found = ask.told("--requests", str(SPEC / "requests.csv"), "--window", "1000..3000")
    assert found.code == 0
    assert "refused: no request of the log arrived at 1000..3000 s" in found.section("Indices of coordination")


def test_a_band_gives_control_coherence(ask: Asking) -> None:
    rows = np.arange(200)
    level = np.where(rows % 2, 12.0, 10.0)
    columns = {"batch.running": level, "batch.running.low": np.full(200, 9.0), "batch.running.high": np.full(200, 13.0)}
    ask.write(columns, design=FLEET)
    found = ask.told("-o", "json").sections["Indices of coordination"]
    assert [one["name"] for one in found["indices"]] == ["CC"]
    assert found["indices"][0]["value"] == 0


# -- what the user typed wrongly ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--loss", "trainer.steptime"], "did you mean 'trainer.step_time'?"),
        (["--loss", "1 + 2"], "does not depend on any signal"),
        (["--loss", "trainer.step_time *"], "cannot read"),
        (["--loss", "L_struct"], "there is no ledger"),
        (["--do", "disk.reads"], "write SIGNAL=VALUE"),
        (["--do", "disk.reads=nan"], "write SIGNAL=VALUE"),
        (["--do", "disk.writes=1"], "'disk.writes' is not among the fitted signals"),
        (["--off", "nobody"], "there is no loop 'nobody': the design has none"),
        (["--window", "9..3"], "the smaller first"),
        (["--window", "90000..99000"], "the telemetry is from 0 to 3990 s"),
        (["--against", "90000..99000", "--loss", "disk.reads"], "the telemetry is from 0 to 3990 s"),
        (["--rank", "trainer.step_time"], "--rank needs --window A..B"),
        (["--rank", "nothing", "--window", "0..90"], "there is no signal 'nothing'"),
        (["--reference", "nobody=1", "--loss", "disk.reads"], "no signal 'nobody'"),
        (["--picture", "fit.gif"], "end it in .svg or .png"),
        (["--requests", "absent.csv"], "absent.csv"),
        (["--off", "backfill"], "there is no loop 'backfill'"),
        (["--against", "0..90"], "--against explains the change of a loss"),
        (["--against", "0..2000", "--window", "1000..3000", "--loss", "disk.reads"], "shares times with the window"),
        (["--reference", "disk.reads=1"], "--reference is of the causes of a loss"),
        (["--stream", "--window", "0..90"], "leave out --window"),
        (["--stream", "--do", "disk.reads=1"], "leave out --window"),
        (["--prometheus", "http://127.0.0.1:9"], "exclude each other"),
        (["--bootstrap", "-1"], "--bootstrap"),
    ],
)
def test_a_wrong_word_is_told_with_a_remedy(ask: Asking, words: list[str], message: str) -> None:
    ask.write(chain())
    found = ask.told(*words)
    assert found.code == 2
    assert message in found.err
    assert not found.out


def test_no_telemetry_and_no_file(ask: Asking) -> None:
    ask.write(chain())
    assert "name telemetry with --telemetry" in ask().err
    absent = ask("--telemetry", "absent.csv")
    assert absent.code == 2
    assert "absent.csv" in absent.err


def test_a_contradicted_design_exits_with_1(ask: Asking) -> None:
    rng = np.random.default_rng(2)
    reads = 5 + rng.normal(0, 1, ROWS)
    ask.write({"disk.reads": reads, "loader.wait": 30 - 2 * reads + rng.normal(0, 0.2, ROWS)})
    found = ask.told()
    assert found.code == 1
    assert "COH402" in found.out


# -- odd telemetry ------------------------------------------------------------------------------------


def test_a_constant_is_named_and_left_out(ask: Asking) -> None:
    ask.write({**chain(), "disk.reads": np.full(ROWS, 5.0)})
    found = ask.told("--loss", "trainer.step_time")
    assert found.code == 0
    assert "left out: disk.reads: it is 5 all the time" in found.out
    assert "disk.reads" not in found.section("Shares of trainer.step_time")
    loss = ask.told("--loss", "disk.reads")
    assert loss.code == 2
    assert "--loss: disk.reads cannot be explained: it is 5 all the time" in loss.err


def test_duplicated_causes_are_not_split(ask: Asking) -> None:
    design = CHAIN.replace("disk.reads * cost", "disk.reads * cost + disk.copies * cost")
    made = chain()
    ask.write({**made, "disk.copies": made["disk.reads"]}, design=design)
    found = ask.told("--loss", "trainer.step_time")
    told = found.section("Shares of trainer.step_time")
    assert "disk.reads + disk.copies: cannot be split" in told or "disk.copies + disk.reads: cannot be split" in told
    assert "are equal at every time" in found.out


def test_strengths_that_cannot_be_told_apart_are_not_printed(ask: Asking) -> None:
    made = chain()
    made["disk.writes"] = 2 * made["disk.reads"]
    design = CHAIN.replace("disk.reads * cost", "disk.reads * cost + disk.writes * price, price: 0 .. 10")
    ask.write(made, design=design)
    rows = [line for line in ask.told().section("Influences").split("\n") if "loader.wait" in line and "disk." in line]
    assert sum("not told" in row and "their sum alone" in row for row in rows) == 2
    found = ask.told("-o", "json").sections
    assert [one["told"] for one in found["Influences"]["influences"]] == [False, False, True]
    assert [one["code"] for one in found["Design against telemetry"]["findings"]] == ["COH403"]


def test_a_range_without_a_column_is_said_to_be_constant(ask: Asking) -> None:
    design = CHAIN.replace("disk.reads * cost", "disk.reads * cost + host.noise * share, share: 0 .. 1")
    design = design.replace("loader.wait * weight", "loader.wait * weight + host.noise * drag, drag: 0 .. 1")
    ask.write(chain(), design=design + "  host: {noise: 0 .. 9}\n")
    told = " ".join(ask.told().section("Influences").split())
    assert "host.noise * loader.share in loader.wait: taken as a constant" in told
    assert "if host.noise moves, it hides between loader.wait and trainer.step_time" in told
    ask.write({**chain(), "host.noise": chain(seed=2)["disk.reads"]}, design=design + "  host: {noise: 0 .. 9}\n")
    assert "taken as a constant" not in ask.told().out


def test_the_variance_says_what_it_took_as_a_straight_line(ask: Asking) -> None:
    made = chain()
    made["trainer.step_time"] = made["loader.wait"] ** 2
    ask.write(made, design=CHAIN.replace("loader.wait * weight", "loader.wait * loader.wait * weight"))
    assert "taken as straight lines" in ask.told("--loss", "trainer.step_time").section("What makes")


def test_a_change_of_level_says_how_to_ask_what_changed(ask: Asking) -> None:
    made = chain()
    made["trainer.step_time"] = made["trainer.step_time"] * np.where(np.arange(ROWS) < 200, 1, 3)
    ask.write(made)
    told = ask.told("--loss", "trainer.step_time").section("What makes trainer.step_time vary").strip()
    asked = told.split("\n")[-1].partition("differently since: ")[2].split()
    assert asked == ["--against", "0..2000", "--window", "2000..4000"]
    assert "acts differently now" in ask.told("--loss", "trainer.step_time", *asked).out


def test_a_copy_that_is_no_signal_of_the_design_changes_nothing(ask: Asking) -> None:
    made = chain()
    ask.write(made)
    before = ask.told("--loss", "trainer.step_time").section("Shares of trainer.step_time")
    ask.write({**made, "another.name": made["disk.reads"]})
    assert ask.told("--loss", "trainer.step_time").section("Shares of trainer.step_time") == before


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_missing_and_infinite_values_are_counted(ask: Asking, bad: float) -> None:
    made = chain()
    made["loader.wait"][50:60] = bad
    ask.write(made)
    found = ask.told("--loss", "trainer.step_time", "-o", "json")
    assert found.code == 0
    assert found.sections["Influences"]["rows_lost"] == 12  # two more have no past
    shares = found.sections["Shares of trainer.step_time, against every cause at 0"]
    assert share(shares, "disk.reads") == pytest.approx(15, rel=0.05)


def test_times_that_go_back_are_sorted_and_told(ask: Asking) -> None:
    made = chain()
    times = [STEP * row for row in range(ROWS)]
    order = [*range(100), 120, *range(100, 120), *range(121, ROWS)]
    ask.write({name: levels[order] for name, levels in made.items()}, times=[times[row] for row in order])
    back = ask.told("--loss", "trainer.step_time")
    assert "time goes back 1 time" in back.out
    ask.write(made)
    assert ask.told("--loss", "trainer.step_time").section("Shares") == back.section("Shares")


def test_two_values_at_one_time_are_an_input_error(ask: Asking) -> None:
    times = [STEP * row for row in range(ROWS)]
    times[100] = times[99]
    ask.write(chain(), times=times)
    found = ask.told()
    assert found.code == 2
    assert "two values at 990 s" in found.err


@pytest.mark.parametrize("rows", [2, 3, 5, 12, 20])
def test_few_rows_tell_no_share_and_no_coupling(ask: Asking, rows: int) -> None:
    ask.write(chain(rows))
    found = ask.told("--loss", "trainer.step_time", "-o", "json")
    assert found.code == 0
    shares = found.sections["Shares of trainer.step_time, against every cause at 0"]["shares"]
    assert all(one["refused"] for one in shares)
    assert all(not one["told"] for one in found.sections["Influences"]["influences"])
    codes = {one["code"] for one in found.sections["Design against telemetry"]["findings"]}
    assert codes <= {"COH403"}


def test_one_row(ask: Asking) -> None:
    ask.write(chain(1))
    assert "a step needs two" in ask.told().err
    found = ask.told("--step", "5")
    assert found.code == 0
    assert "left out: disk.reads" in found.out


def test_a_file_that_is_no_table(ask: Asking) -> None:
    ask.write(chain())
    for text, message in (
        ("", "the file is empty"),
        ("time,x\n", "no row"),
        ("time,x\n1,a\n2,b\n", "no column is a signal"),
    ):
        ask.telemetry.write_text(text)
        found = ask.told()
        assert found.code == 2
        assert message in found.err


def test_a_signal_missing_from_telemetry_and_a_column_missing_from_the_design(ask: Asking) -> None:
    made = chain()
    del made["loader.wait"]
    ask.write({**made, "backup.traffic": np.random.default_rng(3).normal(0, 1, ROWS)})
    found = ask.told("--loss", "trainer.step_time", "-o", "json")
    told = found.sections["Telemetry"]
    assert told["without_column"] == ["loader.wait"]
    assert told["without_signal"] == ["backup.traffic"]
    shares = found.sections["Shares of trainer.step_time, against every cause at 0"]
    assert share(shares, "disk.reads") == pytest.approx(15, rel=0.05), "its causes act through what is only computed"


def test_names_with_any_characters(ask: Asking) -> None:
    names = ['a "quoted", name', "λ µ 日本", "=cmd()", "x;y|z\ttab", "{le='0.5'}", "-", "1"]
    rng = np.random.default_rng(4)
    ask.write({**chain(), **{name: rng.normal(0, 1, ROWS) for name in names}})
    found = ask.told("--loss", "trainer.step_time", "-o", "json")
    assert found.code == 0
    assert sorted(found.sections["Telemetry"]["without_signal"]) == sorted(names)
    text = ask.told("--loss", "λ µ 日本")
    assert text.code == 0
    assert "Shares of λ µ 日本" in text.out


@pytest.mark.parametrize("columns", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_very_many_columns(ask: Asking, columns: int) -> None:
    rng = np.random.default_rng(5)
    made = chain(120)
    extra = {f"c{number}": rng.normal(0, 1, 120).round(3) for number in range(columns)}
    extra["c7"] = np.roll(made["trainer.step_time"], 1) + rng.normal(0, 0.01, 120)
    lagged = np.roll(made["trainer.step_time"], 0)
    ask.write({**made, **extra, "c8": lagged - 1.5 * made["loader.wait"] + rng.normal(0, 0.05, 120)})
    found = ask.told("--loss", "trainer.step_time", "-o", "json")
    shares = found.sections["Shares of trainer.step_time, against every cause at 0"]
    assert share(shares, "disk.reads") == pytest.approx(15, rel=0.1)
    told = found.sections["Design against telemetry"]
    assert [set(one["of"]) for one in told["findings"] if one["code"] == "COH401"] == [{"c8", "trainer.step_time"}]
    assert told["tested"] > columns


def test_measured_ranges_and_the_network_are_written(ask: Asking) -> None:
    rng = np.random.default_rng(5)
    reads = rng.normal(5, 1, 400)
    wait = 3 * reads + rng.normal(size=400)
    ask.write({"disk.reads": reads, "loader.wait": wait, "trainer.step_time": 2 * wait + rng.normal(size=400)})
    network = ask.folder / "n.json"
    answered = ask("--telemetry", str(ask.telemetry), "--write", "--network", str(network))
    assert answered.code == 0
    assert "loader.cost: 0 .. 10 -> 2." in answered.err
    written = ask.design.read_text()
    assert written.count("# measured: ") == 2
    assert "weight: 1." in written
    assert sorted(json.loads(network.read_text())["nodes"]) == ["disk.reads", "loader.wait", "trainer.step_time"]
    network.write_text("mine")
    assert ask("--telemetry", str(ask.telemetry), "--network", str(network)).code == 2
    assert network.read_text() == "mine"
