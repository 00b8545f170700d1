"""Pages of words for the members and the work of a thing: each is explained, by an example that can be read."""

from __future__ import annotations

import re

import pytest

from coherence.language.pages.word_pages import EXAMPLES, counting_words, word_page
from coherence.language.reading import read_text
from coherence.language.words import COUNTS, STATES

AROUND = {
    "counts": "limits: {{own: {{{0}}}}}",
    "actuation": "loops: {{own: {{trigger: true, timescale: {{period: 2 s}}, {0}}}}}",
    "promises": "{0}",
    "components": "{0}",
}


def test_each_word_of_each_row_has_a_page_with_the_words_that_mean_the_same() -> None:
    assert EXAMPLES.keys() == {*COUNTS, *STATES}
    for word in counting_words():
        assert word in word_page(word).partition("means the same:")[2]
    assert word_page("nothing_of_this") == ""


@pytest.mark.parametrize("row", EXAMPLES)
def test_the_example_of_a_row_is_read_and_has_a_word_of_it(row: str) -> None:
    [example] = re.findall("`(.*)`", EXAMPLES[row])
    section = example.partition(":")[0]
    design = read_text("coherence: 1\n" + AROUND[section].format(example) + "\n")
    assert design.components or design.limits or design.loops or design.promises
    assert set(re.findall(r"\w+", example)) & {*({**COUNTS, **STATES}[row])}
