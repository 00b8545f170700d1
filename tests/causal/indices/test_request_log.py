"""The log of requests: read and written, wrong rows told with their lines, and taken from a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coherence.base.errors import InputError
from coherence.causal.data.request_log import request_log
from coherence.causal.data.request_log_files import read, write
from tests.causal.indices.systems import pool

HEAD = "arrival,need,end"
DESIGN = """\
coherence: 1
workload:
  clients: {rate: 5 req/s, service: {mean: 100 ms, cv: 1}}
components:
  workers: {copies: 2}
calls:
  - {from: clients, to: workers, per_try: 2 s, tries: 2, retry_when: [timeout], on_timeout: abandon}
"""


def written(folder: Path, *lines: str) -> Path:
    path = folder / "requests.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def refused(path: Path, needs: dict[str, float] | None = None) -> str:
    with pytest.raises(InputError) as caught:
        read(path, needs=needs)
    return str(caught.value)


def test_a_log_is_read_in_the_order_of_arrival(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        f"{HEAD},outcome,deadline,class,colour",
        "2,0.5,2.75,completed,1,chat,red",
        "1,0.5,,in flight,1,chat,red",
        "0,0.25,3,timeout,1,batch,blue",
    )
    log = read(path)
    assert log.arrival.tolist() == [0.0, 1.0, 2.0]
    assert log.classes == ("batch", "chat")
    assert log.completed.tolist() == [False, False, True]
    assert log.sojourn.tolist() == [3.0, 2.0, 0.75]
    assert log.delay[2] == 0.25
    assert log.in_flight == 1
    assert log.lacks == {"attempts", "service", "devices", "held"}
    assert [one.what for one in log.excluded] == ["column 'colour'"]


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    log = pool(0.7, until=20.0)
    path = tmp_path / "log.csv"
    write(log, path)
    again = read(path, until=log.until)
    for name in ("arrival", "need", "end", "deadline", "held", "service", "attempts", "completed"):
        assert np.array_equal(getattr(log, name), getattr(again, name))
    assert [one.name for one in again.layers] == ["queue", "execution"]
    assert np.array_equal(again.layers[0].left, log.layers[0].left)


def test_a_stated_deadline_and_stated_needs_stand_in_for_columns(tmp_path: Path) -> None:
    path = written(tmp_path, "arrival,end,service", "0,1,a", "1,3,b")
    log = read(path, deadline=1.5, needs={"a": 0.5, "b": 1.0})
    assert log.need.tolist() == [0.5, 1.0]
    assert log.in_time.tolist() == [True, False]
    assert "no isolated need of service 'b'" in refused(path, needs={"a": 0.5})


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ((), "the file is empty"),
        ((HEAD,), "a header and no requests"),
        (("arrival,end", "0,1"), "the column 'need' is missing"),
        (("arrivals,need,end", "0,1,1"), "did you mean 'arrivals'?"),
        ((f"{HEAD},end", "0,1,1,1"), "two columns are called 'end'"),
        ((HEAD, "0,1,1", "0,1"), ":3:1: 2 fields in a table of 3 columns"),
        ((HEAD, "0,1,1", "zero,1,2"), ":3:1: arrival: 'zero' is not a number"),
        ((HEAD, "0,1,1", ",1,2"), ":3:1: arrival is not a finite number"),
        ((HEAD, "0,1,1", "inf,1,2"), ":3:1: arrival is not a finite number"),
        ((HEAD, "0,0,1"), ":2:1: need must be > 0 s (=0.0)"),
        ((HEAD, "0,,1"), ":2:1: need must be > 0 s (=nan)"),
        ((HEAD, "5,1,1", "6,1,1"), ":2:1: end lies before arrival; so in 1 further rows"),
        ((HEAD, "5,1,inf"), ":2:1: end is infinite"),
        ((f"{HEAD},attempts", "0,1,1,0"), "attempts must be >= 1 (=0.0)"),
        ((f"{HEAD},held", "0,1,1,-2"), "held must be >= 0 device-seconds (=-2.0)"),
        ((f"{HEAD},left.a,left.b", "0,1,3,2,1"), "left.b lies before left.a"),
        ((f"{HEAD},need.a", "0,1,3,2"), "'need.a' is the need of a layer without a time of leaving"),
        ((f"{HEAD},left.a,need.a,left.b", "0,1,3,1,2,3"), "the needs of the layers exceed the need"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, lines: tuple[str, ...], told: str) -> None:
    path = tmp_path / "requests.csv"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    assert told in refused(path)


def test_everything_wrong_is_told_at_once(tmp_path: Path) -> None:
    told = refused(written(tmp_path, f"{HEAD},deadline", "x,1,1,1", "0,-1,1,1", "0,1,1,0"))
    assert "arrival: 'x'" in told
    assert "need must be" in told
    assert "deadline must be" in told


def test_a_file_that_is_no_text_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "requests.csv"
    assert "cannot be read" in refused(path)
    path.write_bytes(b"arrival,need,end\n\xff\xfe,1,2\n")
    assert ":2:1: byte 0xff at column 1 is not UTF-8" in refused(path)


def test_a_log_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="end lies before arrival"):
        request_log([1.0], [1.0], [0.5])
    with pytest.raises(ValueError, match="no requests"):
        request_log([], [], [])
    with pytest.raises(ValueError, match="until"):
        request_log([1.0], [1.0], [2.5], until=2.0)


@pytest.mark.slow
def test_a_run_of_one_pool_is_its_own_twin() -> None:
    """The engine draws the needs; the twin with these needs has the same sojourns, request by request."""
    from coherence.causal.twins.coordinated_twin import twin
    from coherence.simulate.requests.engine import simulate
    from coherence.simulate.requests.program import Arrivals, Program, Route, Service, Source, Station
    from tests.causal.request_logs_of_runs import of_run

    program = Program(
        (Source("chat", Arrivals(rate=15.0), (("pool",),)),),
        (Station("pool", 2, Service(0.1)),),
        (Route("pool", "pool"),),
    )
    result = simulate(program, seed=3, until=60.0)
    log = of_run(result)
    assert log.services == ("chat",)
    assert np.array_equal(log.need[:3] > 0, [True] * 3)
    found = twin(log, 2).sojourns(1.0)
    kept = log.arrival < 50.0
    assert found[kept] == pytest.approx(log.sojourn[kept], abs=1e-9)


def test_what_a_run_of_a_design_wrote_is_read(tmp_path: Path) -> None:
    from coherence.language.reading import read_text
    from coherence.simulate.study.recording import record
    from coherence.simulate.study.setting import Setting

    design = read_text(DESIGN, "design.yaml")
    paths = record(design, Setting(60.0, 0.0, (1,)), tmp_path)
    assert paths[-1].name == "requests.csv"
    log = read(paths[-1])
    assert log.services == ("clients",)
    assert 200 < len(log) < 400
    assert log.need.mean() == pytest.approx(0.1, rel=0.2)
    assert (log.delay[log.completed] > -1e-9).all()


def test_the_requests_that_a_run_wrote_arrive_again(tmp_path: Path) -> None:
    from coherence.language.reading import read_text
    from coherence.simulate.serving.trace import arrivals_from_csv
    from coherence.simulate.study.recording import record
    from coherence.simulate.study.setting import Setting

    paths = record(read_text(DESIGN, "design.yaml"), Setting(60.0, 0.0, (1,)), tmp_path)
    assert len(arrivals_from_csv(paths[-1]).times) == len(read(paths[-1]))
