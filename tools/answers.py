"""A Sphinx extension: the weights that turing.draw has drawn answer in the book's pages.

After each Hinton picture comes an empty paragraph, so that nothing moves when the script, which is that of the
widgets, begins to write in it. The script stands in the page itself, because a page that is opened from the file
system may not load a module.
"""

from __future__ import annotations

import re

from turing.widgets.base import joined

PICTURE = re.compile(r'<figure class="turing-figure"[^>]*><svg [^>]*class="turing-hinton".*?</figure>', re.DOTALL)
READING = '<p class="turing-reading" aria-live="polite"></p>'


def answer(app, page: str, template, context, doctree) -> None:
    body, count = PICTURE.subn(lambda picture: picture[0] + READING, context.get("body", ""))
    if count:
        script = joined("page/hinton.js").replace("export default", "export const none =") + "answerAll();"
        context["body"] = f'{body}<script type="module">\n{script}\n</script>\n'


def setup(app):
    app.connect("html-page-context", answer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
