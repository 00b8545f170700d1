"""Near misses of activities, roles and causes are errors that name what may be meant."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from coherence.base.places import Place
from coherence.language import word_checks
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Reading
from coherence.language.sentences import event_of
from tests.strategies import problems_in

NOWHERE = Place("", 1, 1, 1, 1)


@pytest.mark.parametrize(
    ("text", "wrong", "meant"),
    [
        ("components: {model: {takes: {decode: 2 s}, roles: {decoed: answer}}}", "'decoed'", "'decode'"),
        ("components: {model: {takes: {decode: 2 s}, roles: {other: answer}}}", "'other'", "takes: {other: ...}"),
        ("components: {model: {takes: {decode: 2 s}, roles: {decode: anser}}}", "'anser'", "'answer'"),
        (
            "components: {model: {takes: {decode: 2 s}}}\ntimers: {t: {from: model.decoed starts, after: 1 s}}",
            "'decoed'",
            "'decode'",
        ),
        ("calls: [{from: a, to: b, tries: 2, retry_when: [timeuot]}]", "'timeuot'", "'timeout'"),
        (
            "calls: [{from: a, to: b, tries: 2, retry_when: [overlaod], fails: {overload: 1 s}}]",
            "'overlaod'",
            "'overload'",
        ),
        ("calls: [{from: a, to: b, tries: 2, retry_when: [timeout], fails: {timout: 1 s}}]", "'timout'", "'timeout'"),
        ("components: {model: {takes: {servee: 2 s}}}", "'servee'", "'serve'? Else say what it is to a caller"),
        ("components: {model: {takes: {anwser: 2 s}}}", "'anwser'", "'answer'"),
        ("components: {model: {}}\ntimers: {t: {from: model strats, after: 1 s}}", "'strats'", "'starts'"),
        ("components: {model: {}}\ntimers: {t: {from: model.load, after: 1 s}}", "'model.load'", "`model.load starts`"),
    ],
)
def test_a_near_miss_is_an_error_with_what_may_be_meant(text: str, wrong: str, meant: str) -> None:
    problem = problems_in(lambda: read_text(f"coherence: 1\n{text}\n"))[0]
    assert wrong in problem.message
    assert meant in problem.remedy


@pytest.mark.parametrize(
    "text",
    [
        "calls: [{from: a, to: b, tries: 2, retry_when: [504, Gateway-Timeout, locked, cancelled]}]",
        "components: {model: {drain: 5 s, takes: {decode: 2 s}}}\ntimers: {t: {from: model.drain starts, after: 1 s}}",
        "components: {log: {takes: {replay: 2 s}, roles: {replay: apart}}, a: {takes: {serve: 1 s, servee: 2 s}}}",
        "components: {log: {takes: {replay: 2 s}}}\ntimers: {t: {from: log.replay starts, after: 1 s}}",
        "components: {rank: {takes: {step: 2 s, start2: 1 s}}}\ntimers: {t: {from: rank stalls, after: 1 s}}",
    ],
)
def test_words_far_from_all_that_is_known_are_names_of_their_own(text: str) -> None:
    reading = Reading()
    word_checks.check(read_text(f"coherence: 1\n{text}\n"), reading)
    assert not reading.problems


@pytest.mark.parametrize(("resource", "remedy"), [("gpus", "did you mean 'gpu'?"), ("mig_1g", "add `mig_1g: ...`")])
def test_a_resource_that_nobody_offers_is_an_error(resource: str, remedy: str) -> None:
    text = (
        f"coherence: 1\ncomponents: {{web: {{copies: 7, needs: {{{resource}: 1}}}}}}\n"
        "places: {n1: {zone: a, gpu: 1}, n2: {zone: b}}\nplacement: {web: [spread by zone <= 1]}\n"
    )
    with pytest.raises(InputError, match=f"nothing offers '{resource}'") as caught:
        read_text(text)
    assert remedy in str(caught.value)
    read_text(text.replace(resource, "gpu"))


def test_what_is_needed_where_no_place_offers_anything_is_no_error() -> None:
    read_text("coherence: 1\ncomponents: {web: {copies: 7, needs: {memory: 1 GiB}}}\nplaces: {n1: {zone: a}}\n")


@pytest.mark.parametrize(
    ("said", "meant"), [("model started", "model starts"), ("all of model.load finish", "all of model.load ends")]
)
def test_other_words_for_a_start_or_an_end_are_that_event(said: str, meant: str) -> None:
    event = event_of(said, NOWHERE)
    assert event == event_of(meant, NOWHERE)
    assert (event.kind, event.text) == (meant.rsplit(" ", 1)[1], meant)


STATE = """coherence: 1
components: {room: {state: "t' = t + 1", step: 1 s, from: 20, SAID}}
"""


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("range: 0 .. 30", "bound it in its formula, `t' = max(0, min(100, ...))`, or name 'range' there"),
        ("max: 30", "bound it in its formula"),
        ("initial: 3", "write `from`"),
        ("every: 5 s", "write `step`"),
    ],
)
def test_what_nothing_reads_beside_a_state_is_an_error(said: str, remedy: str) -> None:
    with pytest.raises(InputError) as error:
        read_text(STATE.replace("SAID", said))
    (problem,) = error.value.problems
    assert "stands beside the state room.t and is a value of its own, which nothing reads" in problem.message
    assert remedy in (problem.remedy or "")


def test_a_value_beside_a_state_that_an_expression_reads_is_a_constant() -> None:
    read_text(STATE.replace("t + 1", "min(max, t + 1)").replace("SAID", "max: 30"))
    read_text(STATE.replace("SAID", "max: 30") + "promises: {cap: always room.t <= room.max}\n")
    read_text("coherence: 1\ncomponents: {room: {max: 30}}\n")


def test_a_workload_that_names_where_it_goes_is_answered_with_its_call() -> None:
    text = "coherence: 1\nworkload: {users: {rate: 5 req/s, to: web}}\ncomponents: {web: {copies: 2}}\n"
    with pytest.raises(InputError) as raised:
        read_text(text, "d")
    assert "`calls: [{from: users, to: web}]`" in str(raised.value)
