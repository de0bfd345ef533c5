"""A Sphinx extension: keep only what the book uses of the theme.

The theme ships all of Font Awesome as one script, 540 KB compressed, for some twenty icons; after the build this takes
the other icons out of the copy in the book. And it loads the index of the search on every page, 40 KB, for results
while one types, which are off: here the page of the search alone has it.
"""

from __future__ import annotations

import re
from pathlib import Path

ICON = re.compile(r'(?P<name>"[\w-]+"|\w+):\[\d+,\d+,\[(?P<aliases>[^\]]*)\],"[0-9a-f]+",(?:"[^"]*"|\[[^\]]*\])\],?')


def trim(script: str, wanted: set[str]) -> str:
    def keep(icon: re.Match) -> str:
        names = {icon["name"].strip('"'), *re.findall(r'"([\w-]+)"', icon["aliases"])}
        return icon[0] if names & wanted else ""

    return ICON.sub(keep, script)


SEARCH = re.compile(r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>')
TOGGLE = '<summary><span class="toctree-toggle"'  # which the theme leaves without a name for who listens


def build_finished(app, exception) -> None:
    script = Path(app.outdir) / "_static" / "scripts" / "fontawesome.js"
    if exception or not script.exists():
        return
    sources = [*Path(app.outdir).rglob("*.html"), *script.parent.glob("*-theme.js")]
    wanted = {name for path in sources for name in re.findall(r"fa-([a-z0-9-]+)", path.read_text(encoding="utf-8"))}
    for path in Path(app.outdir).rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        lighter = text if path.name == "search.html" else SEARCH.sub("", text)
        if (named := lighter.replace(TOGGLE, TOGGLE.replace(">", ' aria-label="Pages of this part">', 1))) != text:
            path.write_text(named, encoding="utf-8")
    script.write_text(trim(script.read_text(encoding="utf-8"), wanted), encoding="utf-8")


def setup(app):
    app.connect("build-finished", build_finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
