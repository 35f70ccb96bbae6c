"""Pages in a real browser: one run opens all of them in frames of their width."""

import html
import json
import re
import shutil
import subprocess

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
KEEP = """<script>const answers = {};
onmessage = e => { answers[e.data.name] = e.data;
document.documentElement.dataset.answers = JSON.stringify(answers) }</script>"""


@pytest.fixture(scope="session")
def open_pages():
    """Return a function that says what a script in each page found, by name and width."""
    if CHROMIUM is None:
        pytest.skip("no chromium found; tools/browser.sh installs it")
    return _opened


def _opened(folder, pages, screens, *flags, script):
    """Open pages by name, each on screens of given widths and heights.

    A page's own policy forbids scripts; only the copies made here allow one. It measures the page
    and tells the holder of the frames, which ``--dump-dom`` shows.
    """
    frames = []
    for i, (name, page) in enumerate(pages.items()):
        allowed = page.replace(
            "default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'"
        )
        for width, height in screens.items():
            own = script.replace("PAGE_NAME", json.dumps(f"{name} {width}"))
            copy = allowed.replace("</body>", f"<script>{own}</script></body>")
            (folder / f"{i}-{width}.html").write_text(copy, encoding="utf-8")
            size = f"width:{width}px;height:{height}px;border:0"
            frames.append(f'<iframe src="{i}-{width}.html" style="{size}"></iframe>')
    (folder / "all.html").write_text(f"<!doctype html>{KEEP}{''.join(frames)}", encoding="utf-8")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=20000"]
    command += ["--hide-scrollbars", *flags]
    run = [*command, "--dump-dom", (folder / "all.html").as_uri()]
    dom = subprocess.run(run, capture_output=True, text=True, timeout=300, check=True).stdout
    answers = json.loads(html.unescape(re.search(r'data-answers="([^"]*)"', dom)[1]))
    assert len(answers) == len(frames)
    return answers
