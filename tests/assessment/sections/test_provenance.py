"""What a page was computed from: the design that is assessed, and the earlier one that it is compared with."""

from __future__ import annotations

import re
from dataclasses import replace

from coherence.assessment.parts.elements import rounded
from coherence.assessment.sections import provenance
from coherence.findings.finding import Accounting, InputFile, Report
from tests.assessment.run_assessments import assessed, rendered


def _inputs(anonymous: bool) -> list[list[str]]:
    now, earlier = (Report((), Accounting(), (InputFile(name, name[0] * 8),)) for name in ("now.yaml", "earlier.yaml"))
    both = replace(assessed(), report=now, before=("earlier.yaml", earlier), anonymous=anonymous)
    table = rendered(provenance.section(both)).partition("SHA-256")[2].partition("</table>")[0]
    return [re.findall("<td[^>]*>(.*?)</td>", row) for row in table.partition("<tbody>")[2].split("</tr>")[:2]]


def test_both_designs_stand_with_their_hashes() -> None:
    assert _inputs(anonymous=False) == [
        ["now.yaml", "nnnnnnnn", "assessed"], ["earlier.yaml", "eeeeeeee", "compared with"],
    ]  # fmt: skip


def test_an_anonymous_page_shows_no_hash() -> None:
    assert [row[1] for row in _inputs(anonymous=True)] == ["not shown", "not shown"]


def test_no_change_has_no_sign() -> None:
    assert [rounded(x, sign=True) for x in (0, 0.0, 2, -0.5)] == ["0", "0", "+2", "-0.5"]
