"""All equilibria of piecewise laws, counted by hand."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.every_equilibrium import equilibria
from coherence.loops.designs.feedback_groups import OutOfTimeError
from coherence.model.elaborate import elaborate


@pytest.mark.parametrize(
    ("flow", "points"),
    [
        ("(max(a.x, 3) - 2 * a.x + 1)", [2]),  # a.x = 2 takes the 3; a.x = 1 would take a.x and is none
        ("(max(2 * a.x - 6, 0) - a.x + 2)", [2, 4]),
        ("(max(3 * a.x - 20, min(a.x, 5)) - 0.5 * a.x - 1)", [2, 8, 8.4]),
        ("(a.x - 1) * (a.x - 4)", [1, 4]),
        ("(1 + a.x * a.x)", []),
    ],
)
def test_every_piece_gives_its_equilibrium_where_it_holds(flow: str, points: list[float]) -> None:
    text = f'coherence: 1\ncomponents: {{a: {{state: "x\' = {flow} / 1 s", from: 0}}}}\n'
    model = elaborate(read_text(text, "design.yaml"))
    assert sorted(float(point["a.x"]) for point in equilibria(model).points) == pytest.approx(points)


STAGE = '{name}: {{state: "x\' = (max(2 * {name}.x - 6, 0) - {name}.x + 2 + {above}) / 1 s", from: 0}}'


def test_what_depends_on_nothing_behind_it_is_solved_first_and_each_of_its_points_leads_on() -> None:
    text = f"""coherence: 1
components:
  {STAGE.format(name="b", above="0.25 * (a.x - 2)")}
  {STAGE.format(name="a", above="0")}
"""
    model = elaborate(read_text(text, "design.yaml"))
    points = {(float(point["a.x"]), float(point["b.x"])) for point in equilibria(model).points}
    assert points == {(2, 2), (2, 4), (4, 2.5), (4, 3.5)}  # of a 2 and 4; b = 2 + (a - 2) / 4 below 3, 4 - that above


def test_a_chain_of_eight_kinked_stages_has_the_pieces_of_eight_stages_and_not_their_product() -> None:
    names = [f"s{k}" for k in range(8)]
    stages = [f"{{state: \"x' = ({above} - max({name}.x, 3)) / 1 s\", from: 0}}" for name, above in zip(
        names, ["5", *(f"min({before}.x + 1, 9)" for before in names)], strict=False)]  # fmt: skip
    lines = "".join(f"  {name}: {stage}\n" for name, stage in zip(names, stages, strict=True))
    model = elaborate(read_text(f"coherence: 1\ncomponents:\n{lines}", "design.yaml"))
    calls: list[None] = []
    (point,) = equilibria(model, lambda: calls.append(None)).points
    assert [float(point[f"{name}.x"]) for name in names] == [5, 6, 7, 8, 9, 9, 9, 9]
    assert len(calls) < 8 * 3 * 24  # in each of few pieces no more than the starts


def test_a_search_for_equilibria_ends_where_its_time_is_over() -> None:
    def over() -> None:
        raise OutOfTimeError

    text = 'coherence: 1\ncomponents: {a: {state: "x\' = -a.x / 1 s", from: 0}}\n'
    with pytest.raises(OutOfTimeError):
        equilibria(elaborate(read_text(text, "design.yaml")), over)


def test_equilibria_that_are_not_looked_at_are_named() -> None:
    """Five stages with two equilibria each have 32; four have 16."""
    stages = [STAGE.format(name=name, above="0") for name in "abcde"]
    for count, points, left_out in ((4, 16, ""), (5, 24, "equilibria beyond the first 24")):
        text = "coherence: 1\ncomponents:\n" + "".join(f"  {stage}\n" for stage in stages[:count])
        known = equilibria(elaborate(read_text(text, "design.yaml")))
        assert (len(known.points), known.left_out) == (points, left_out)


def test_pieces_that_are_not_looked_at_are_named() -> None:
    kinks = " - ".join(f"max(0.1 * a.x - {k}, 0)" for k in range(7))
    text = f'coherence: 1\ncomponents: {{a: {{state: "x\' = (1 - {kinks}) / 1 s", from: 0}}}}\n'
    known = equilibria(elaborate(read_text(text, "design.yaml")))
    assert known.left_out == "pieces of a.x beyond the first 64"
