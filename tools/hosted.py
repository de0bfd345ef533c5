"""A Sphinx extension: the book knows where it is hosted, and has a plain copy of each notebook for Colab.

The repository's address stands in _config.yml. A build for another repository, a fork's or a clone's
(`book.repository`), puts its own address in place of that one, in settings, pages and notebooks; a build for a release
(`book.tag`) that of the release. After the build colab/ holds the plain copies (tools/plain.py), and the launch button
of each page opens its own.
"""

from __future__ import annotations

import re
from functools import cache, partial
from pathlib import Path
from urllib.parse import urljoin, urlsplit
from xml.sax.saxutils import escape

import nbformat
import slides
from docutils import nodes
from PIL import Image, ImageChops, ImageDraw, ImageFont
from plain import Hosted, Unknown, plain
from sphinx.addnodes import pending_xref
from sphinx.errors import ExtensionError

import book
import turing

DOMAINS = {"ref": "std", "numref": "std", "doc": "std", "term": "std", "eq": "math", "cite": "cite"}
TITLED = re.compile(r"(.+?) *<([^<>]+)>")
CARD = "Turing-complete neural networks: a tape unrolled in time beside the matrix it becomes"
CARD_SIZE, CARD_EDGE = (1200, 630), 60
PICTURED = {"machines": "space-time", "how-fast": "bb5", "lab": "space-time"}  # else the first slide of a chapter
NOT_FOUND = """<h1>No such page</h1>
<p>This address leads nowhere in the book; pages may have moved since it was written down.</p>
<ul>
<li><a href="{site}book/index.html">The first page</a>, with all chapters</li>
<li><a href="{site}book/lab.html">The lab</a>: a Turing machine becomes a transformer in the page</li>
<li><a href="{site}genindex.html">The index</a> and <a href="{site}search.html">the search</a></li>
</ul>"""


def rebased(value, old: str, new: str, tag: str = ""):
    """A setting or a text with the new repository, its release and its site in place of the old ones."""
    if isinstance(value, str):
        package = f"git+{new}@{tag}" if tag else f"git+{new}"
        moved = value.replace(f"git+{old}", package).replace(old, new)
        return moved.replace(book.site(old), book.site(new, tag))
    if isinstance(value, dict):
        return {key: rebased(item, old, new, tag) for key, item in value.items()}
    if isinstance(value, list):
        return [rebased(item, old, new, tag) for item in value]
    return value


def config_inited(app, config) -> None:
    root = Path(app.confdir)
    app.repository, app.tag = book.repository(root), book.tag()
    app.site = book.site(app.repository, app.tag)
    app.rebased = partial(rebased, old=book.config(root)["repository"]["url"], new=app.repository, tag=app.tag)
    for option in list(config):
        if (value := app.rebased(option.value)) != option.value:
            config[option.name] = value
    config.html_baseurl = config.ogp_site_url = app.site
    config.version = config.release = turing.__version__
    config.html_theme_options["extra_footer"] += f" Version {config.release}{'' if app.tag else ', not released yet'}."
    config.notfound_urls_prefix = urlsplit(app.site).path
    config.notfound_context = {"title": "No such page", "body": NOT_FOUND.format(site=app.site)}


def source_read(app, page: str, source: list[str]) -> None:
    source[0] = app.rebased(source[0])


def cards(app, page: str, template, context, doctree) -> None:
    """Each page has a card with its title and a picture of it; that of the first page is the book's own."""
    if doctree is None:
        return
    if page == app.config.root_doc:
        image, alt = "_static/social.png", CARD
    else:
        title, name = app.env.titles[page].astext(), app.config.ogp_site_name
        image, alt = f"_images/cards/{page.replace('/', '-')}.png", f"{title}, a page of {name}"
        path = Path(app.outdir) / image
        path.parent.mkdir(parents=True, exist_ok=True)
        card(Path(app.srcdir), page, title, name).save(path, optimize=True)
    context["meta"] = (context["meta"] or {}) | {"og:image": f"{app.site}{image}", "og:image:alt": alt}
    context["metatags"] += '<meta name="twitter:card" content="summary_large_image" />\n'


def card(root: Path, page: str, title: str, name: str) -> Image.Image:
    """A title in the book's font above a picture of the page, or of the book where the page has none."""
    image, edge = Image.new("RGB", CARD_SIZE, "#FFFFFF"), CARD_EDGE
    pen, width = ImageDraw.Draw(image), CARD_SIZE[0] - 2 * CARD_EDGE

    def font(weight: str, size: int) -> ImageFont.FreeTypeFont:
        return ImageFont.truetype(root / f"book/_static/fonts/IBMPlexSans-{weight}-Latin1.woff2", size)

    pen.text((edge, 44), name, "#63636B", font("Regular", 28))
    size = next(size for size in range(68, 20, -2) if font("SemiBold", size).getlength(title) <= width)
    pen.text((edge, 88), title, "#1B1F27", font("SemiBold", size))
    picture, top = picture_of(root, page.rpartition("/")[2]), 200
    scale = min(width / picture.width, (CARD_SIZE[1] - top - 40) / picture.height, 1)
    picture = picture.resize((round(scale * picture.width), round(scale * picture.height)), Image.Resampling.LANCZOS)
    image.paste(picture, (edge + (width - picture.width) // 2, top))
    return image


@cache
def picture_of(root: Path, page: str) -> Image.Image:
    """A slide of a page without its margins and its credit, or the lower part of the book's own card."""
    own = [slide.name for slide in slides.SLIDES if slide.chapter == page]
    name = PICTURED.get(page, own[0] if own else "")
    static = root / "book" / "_static"
    picture = Image.open(static / "slides" / f"{name}.png" if name else static / "social.png").convert("RGB")
    top, bottom = (0, slides.HEIGHT - slides.MARGIN - slides.CREDIT_HEIGHT) if name else (140, picture.height)
    picture = picture.crop((0, top, picture.width, bottom))
    return picture.crop(ImageChops.difference(picture, Image.new("RGB", picture.size, "#FFFFFF")).getbbox())


def no_maths(app, page: str, template, context, doctree) -> None:
    """A page without formulas does without MathJax, which every script of the page would wait for."""
    if doctree is not None and not any(doctree.findall(lambda node: isinstance(node, (nodes.math, nodes.math_block)))):
        context["script_files"] = [file for file in context["script_files"] if "mathjax" not in str(file.filename)]


def launch_buttons(app, page: str, template, context, doctree) -> None:
    for group in context.get("header_buttons", []):
        for button in group.get("buttons", []):
            if button.get("text") == "Colab":
                button["url"] = book.colab(app.repository, page, app.tag)


class Links:
    """Where the roles and numbers of one page lead, as Sphinx itself resolves them."""

    def __init__(self, app, page: str):
        self.app, self.page = app, page
        self.address = urljoin(app.site, app.builder.get_target_uri(page))

    def role(self, role: str, content: str) -> str:
        title, target = found.groups() if (found := TITLED.fullmatch(content)) else (None, content)
        domain, _, kind = role.rpartition(":")
        domain = domain or DOMAINS.get(kind)
        if domain is None:
            raise Unknown(f"The role {{{role}}} has no plain form yet. Give it one in tools/hosted.py.")
        if domain == "cite":
            kind = "p" if kind == "cite" else kind
        elif kind in ("ref", "numref") and not title:
            title = self.number(target) or None
        if domain == "std" and kind in ("ref", "numref"):
            kind, target = "ref", target.lower()
        text = title or (target.rpartition(".")[2] if target.startswith("~") else target)
        target = target.lstrip("~")
        node = pending_xref("", refdomain=domain, reftype=kind, reftarget=target, refexplicit=bool(title))
        node["refdoc"] = self.page
        node["std:program"] = node["py:module"] = node["py:class"] = None
        node += (shown := (nodes.literal if domain == "py" else nodes.inline)(text, text))
        env, builder = self.app.env, self.app.builder
        resolve = env.domains[domain].resolve_xref
        found = resolve(env, self.page, builder, kind, target, node, shown)
        said = self._markdown(shown if found is None else found)  # the build warns of what leads nowhere
        return f"({said[1:-1]})" if domain == "cite" and said.startswith("[[") else said

    def _markdown(self, node) -> str:
        if isinstance(node, nodes.Text):
            return node.astext()
        inside = "".join(map(self._markdown, node.children))
        if isinstance(node, nodes.reference):
            where = node.get("refuri") or f"#{node['refid']}"
            return f"[{inside}]({urljoin(self.address, where)})"
        return f"`{inside}`" if isinstance(node, nodes.literal) else inside

    def number(self, label: str) -> str:
        """What the page calls a statement or an exercise, such as "Theorem 2.3"; empty for other labels."""
        env = self.app.env
        if statement := getattr(env, "proof_list", {}).get(label):
            page, kind, counter = statement["docname"], statement["realtype"], statement["countertype"]
        elif exercise := getattr(env, "sphinx_exercise_registry", {}).get(label):
            page, kind, counter = exercise["docname"], "exercise", "exercise"
        else:
            return ""
        number = env.toc_fignumbers.get(page, {}).get(counter, {}).get(label, ())
        return f"{kind.title()} {'.'.join(map(str, number))}".strip()

    def file(self, link: str) -> str:
        """The address of what a relative link of Markdown leads to: another page, a picture, a part of this page."""
        path, _, part = link.partition("#")
        if not path:
            return urljoin(self.address, link)
        source = (Path(self.app.srcdir) / self.page).parent / path
        name = source.resolve().relative_to(Path(self.app.srcdir).resolve()).as_posix()
        page = name.rpartition(".")[0]
        if page in self.app.env.found_docs:
            where = self.app.builder.get_target_uri(page)
        elif name in self.app.builder.images:
            where = f"_images/{self.app.builder.images[name]}"
        elif "/_static/" in name:
            where = f"_static/{name.partition('/_static/')[2]}"
        else:
            raise Unknown(f"{link!r} is neither a page nor a picture of the book.")
        return urljoin(self.app.site, where + ("#" + part if part else ""))


def build_finished(app, exception) -> None:
    if exception or app.builder.name != "html":
        return
    (Path(app.outdir) / "sitemap.xml").write_text(sitemap(app), encoding="utf-8")
    for path in (Path(app.outdir) / "_sources").rglob("*.*"):
        text = path.read_text(encoding="utf-8")
        if (own := app.rebased(text)) != text:
            path.write_text(own, encoding="utf-8")
    folder = Path(app.outdir) / "colab"
    folder.mkdir(exist_ok=True)
    for path in book.notebooks(Path(app.srcdir)):
        page = path.relative_to(app.srcdir).with_suffix("").as_posix()
        links = Links(app, page)
        hosted = Hosted(links.address, links.role, links.file, links.number, path.parent)
        try:
            copy = plain(nbformat.reads(app.rebased(path.read_text(encoding="utf-8")), as_version=4), hosted)
        except Unknown as fault:
            raise ExtensionError(f"{path.name} has no plain copy: {fault}") from fault
        (folder / path.name).write_text(nbformat.writes(copy) + "\n", encoding="utf-8")


def sitemap(app) -> str:
    places = (urljoin(app.site, app.builder.get_target_uri(page)) for page in book.pages(Path(app.srcdir)))
    lines = "".join(f"<url><loc>{escape(place)}</loc></url>\n" for place in places)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return f"{head}{lines}</urlset>\n"


def setup(app):
    app.connect("config-inited", config_inited, priority=100)  # before the theme reads the address
    app.connect("source-read", source_read)
    app.connect("html-page-context", cards, priority=400)  # before the cards are made
    app.connect("html-page-context", no_maths, priority=900)
    app.connect("html-page-context", launch_buttons, priority=900)  # after the theme has made its buttons
    app.connect("build-finished", build_finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
