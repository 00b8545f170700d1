"""Opens a page in headless Chromium and reports what people would meet: errors, requests, widths, names and contrasts.

The page is not changed but for one script at its end, which measures and writes what it sees as a title.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from html import unescape
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = (120, 300)  # s of the first run and of the second
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip
MEASURE = r"""
<script id="measure">
(() => {
  const seen = {faults: [], requests: performance.getEntriesByType('resource').length};
  const colour = text => (text.match(/[\d.]+/g) || []).map(Number);
  const linear = v => v <= 10.0164 ? v / 3294.6 : ((v / 255 + 0.055) / 1.055) ** 2.4;
  const light = c => { const f = c.slice(0, 3).map(linear); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
  const ground = e => { for (; e; e = e.parentElement) { const c = colour(getComputedStyle(e).backgroundColor);
                        if (c.length === 3 || c[3] > 0.99) return c; } return [255, 255, 255]; };
  for (const e of document.querySelectorAll('body *')) {
    const style = getComputedStyle(e), box = e.getBoundingClientRect();
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!box.width || e.closest('.sheet') || e.id === 'measure') continue;
    if (own) {
      const ink = e.closest('svg') ? colour(style.fill) : colour(style.color);
      const [a, b] = [light(ink), light(ground(e.closest('svg') ? e.closest('svg').parentElement : e))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) seen.faults.push(`contrast ${ratio.toFixed(2)} of ${e.tagName} ${e.textContent.slice(0, 40)}`);
    }
    if (e.tagName === 'text') {
      const frame = e.ownerSVGElement.getBoundingClientRect();
      if (box.left < frame.left - 2 || box.right > frame.right + 2 || box.bottom > frame.bottom + 2)
        seen.faults.push(`outside of its drawing: ${e.textContent.slice(0, 40)}`);
    }
    if (e.tagName === 'TABLE' && !e.caption) seen.faults.push('a table without a caption');
    if (e.tagName === 'svg' && !e.querySelector('title')) seen.faults.push('a drawing without a title');
    if (e.tabIndex >= 0 && !(e.textContent.trim() || e.getAttribute('aria-label')))
      seen.faults.push('focus without a name');
  }
  for (const drawn of document.querySelectorAll('svg.drawing')) {
    const texts = [...drawn.querySelectorAll('text')].map(t => [t.getBoundingClientRect(), t.textContent]);
    for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length; j++) {
      const [a, b] = [texts[i][0], texts[j][0]];
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 3 && down > 4)
        seen.faults.push(`overlap: ${texts[i][1].slice(0, 30)} | ${texts[j][1].slice(0, 30)}`);
    }
  }
  if (document.documentElement.scrollWidth > innerWidth + 1)
    seen.faults.push(`wider than the window: ${document.documentElement.scrollWidth} of ${innerWidth}`);
  if (!document.documentElement.lang) seen.faults.push('no language');
  if (!document.title) seen.faults.push('a page without a name');
  document.title = JSON.stringify(seen);
})();
</script>
"""


AXE = r"""
const measured = JSON.parse(document.title), show = faults => {
  document.title = JSON.stringify({...measured, checked: true, faults: [...measured.faults, ...faults]}); };
axe.run(document, {resultTypes: ["violations"]}).then(seen => show(seen.violations.map(
  fault => `${fault.id} (${fault.impact}): ${fault.nodes.slice(0, 3).map(node => node.html.slice(0, 120)).join(" ")}`))
).catch(error => show([String(error)]));
"""


def chromium() -> str:
    """Returns the program; skips the test where there is none."""
    for name in PROGRAMS:
        program = shutil.which(name)
        if program is not None:
            return program
    pytest.skip("Chromium is not installed: apt-get install chromium")


def measured(page: Path, *, dark: bool = False, width: int = 1200, checked: bool = True) -> dict[str, Any]:
    """Returns what the page is like in a window of a width: `faults`, the count of `requests`, and its `console`.

    `checked`: what axe-core, an accessibility checker, finds is among its faults: its rules of WCAG and good practice.
    """
    probe = page.with_name(f"{page.stem}.measured.html")
    text = page.read_text(encoding="utf-8").replace("</body>", _scripts(checked) + "</body>")
    probe.write_text(text, encoding="utf-8")
    shade = ("--blink-settings=preferredColorScheme=0",) if dark else ()
    patient = ("--virtual-time-budget=60000",) if checked else ()
    size = f"--window-size={width},900"
    run = _run(page, *shade, *patient, size, "--enable-logging=stderr", "--dump-dom", probe.as_uri())
    title = re.search(r"<title>(.*?)</title>", run.stdout, re.DOTALL)
    assert title is not None, run.stderr[-2000:]
    seen: dict[str, Any] = json.loads(unescape(title[1]))
    assert seen.pop("checked", False) is checked, "axe-core has not ended"
    seen["console"] = re.findall(r'CONSOLE[^"]*"([^"]*)"', run.stderr)
    return seen


def _scripts(checked: bool) -> str:
    if not checked:
        return MEASURE
    checker = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    return f"{MEASURE}<script>{checker}</script><script>{AXE}</script>"


def printed(page: Path) -> bytes:
    """Returns the page as it is printed, as PDF: itself, which has no script (`html_pages` refuses one)."""
    file = page.with_suffix(".pdf")
    _run(page, "--no-pdf-header-footer", f"--print-to-pdf={file}", page.as_uri())
    return file.read_bytes()


def _run(page: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs Chromium, once more where it does not end: on a busy machine it hangs at its start now and then.

    Each run has a profile of its own, and its children end with it: those of a run that hangs would keep the profile.
    """
    for patience in PATIENCE:
        with tempfile.TemporaryDirectory(dir=page.parent, ignore_cleanup_errors=True) as folder:
            command = [chromium(), *FLAGS, f"--user-data-dir={folder}", *arguments]
            with subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                env={**os.environ, "HOME": str(page.parent)},
            ) as running:  # fmt: skip
                try:
                    out, told = running.communicate(timeout=patience)
                except subprocess.TimeoutExpired:
                    os.killpg(running.pid, signal.SIGKILL)
                    continue
        assert running.returncode == 0, told[-2000:]
        return subprocess.CompletedProcess(command, 0, out, told)
    raise TimeoutError(f"Chromium did not end within {' and '.join(map(str, PATIENCE))} s: {page}")
