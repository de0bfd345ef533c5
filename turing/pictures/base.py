"""Pictures: SVG that follows the colours of the page, with alt text, and how names are written in them.

Chapter: :doc:`/book/machines`.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path

from turing.arguments import printable

INK = "var(--turing-ink,#1B1F27)"
GROUND = "var(--turing-ground,#FFFFFF)"
STATE = "var(--turing-st,#B3440E)"
SYMBOL = "var(--turing-sym,#0067A8)"
QUIET = "var(--turing-scr,#63636B)"
LINE = "var(--turing-line,#C9CBD1)"
SOFT = "var(--turing-soft,#F3F4F6)"
ATTENTION = "var(--turing-attn,#8A3F94)"
SANS = "var(--turing-sans,'IBM Plex Sans',system-ui,sans-serif)"
MONO = "var(--turing-mono,'IBM Plex Mono',ui-monospace,monospace)"


@dataclass(frozen=True)
class Picture:
    """An SVG picture, which a notebook shows by itself, with text for those who cannot see it.

    ``svg`` is the picture, and ``alt`` the text.

    >>> picture = turing.space_time(turing.zoo["bb2"])
    >>> picture
    <Picture: Space–time diagram of 6 steps on a blank tape, time running down. …>
    >>> picture.save("bb2.svg")  # doctest: +SKIP

    Chapter: :doc:`/book/machines`.
    """

    svg: str
    alt: str

    @classmethod
    def of(cls, body: Iterable[str], width: float, height: float, alt: str) -> Picture:
        """A picture of SVG elements of your own, in pixels.

        Colours that follow the page are strings in ``turing.pictures.base``: ``INK``, ``GROUND``, ``STATE``,
        ``SYMBOL``, ``QUIET``, ``LINE``, ``SOFT`` and ``ATTENTION``.

        >>> from turing.pictures.base import SYMBOL
        >>> turing.pictures.Picture.of([f'<circle cx="20" cy="20" r="12" style="fill:{SYMBOL}"/>'], 40, 40, "A disc")
        <Picture: A disc. …>

        Chapter: :doc:`/book/machines`.
        """
        return _picture("turing-drawing", width, height, alt, body)

    def save(self, path: str | Path) -> None:
        """Write the picture to a file whose name ends in ``.svg``. Other formats are not written.

        Chapter: :doc:`/book/machines`.
        """
        path = Path(path)
        if path.suffix.lower() != ".svg":
            raise ValueError(
                f"Pictures are saved as SVG, and the name {path.name!r} was given. "
                f"Use {path.stem + '.svg'!r}, and convert that file if you need another format."
            )
        path.write_text(self.svg + "\n", encoding="utf-8", newline="\n")

    def _repr_html_(self) -> str:
        width = int(self.svg.split('width="', 1)[1].split('"', 1)[0])
        # On a narrow page a picture shrinks to two thirds of its width; below that, it scrolls in its frame.
        size = f"max-width:{width}px;min-width:{width * 2 // 3}px;width:100%;height:auto"
        scrolls = ' tabindex="0"' if width > 320 else ""  # what can scroll must be reachable by keyboard
        svg = self.svg.replace("<svg ", f'<svg style="display:block;margin:0 auto;{size}" ', 1)
        return f'<figure class="turing-figure" style="margin:1em 0;overflow-x:auto"{scrolls}>{svg}</figure>'

    def __repr__(self) -> str:
        return f"<Picture: {self.alt.split('. ')[0]}. …>"


def _picture(
    kind: str, width: float, height: float, alt: str, body: Iterable[str], corner: tuple[float, float] = (0.0, 0.0)
) -> Picture:
    width, height = math.ceil(width), math.ceil(height)
    x, y = map(_number, corner)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="img" aria-label="{escape(alt)}" '
        f'width="{width}" height="{height}" viewBox="{x} {y} {width} {height}">\n'
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" style="fill:{GROUND}"/>\n'
    )
    return Picture(svg + "\n".join(body) + "\n</svg>", alt)


def _number(value: float) -> str:
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _visible(name: str) -> str:
    """The name with every character visible, and without characters that XML forbids."""
    name = printable(name)
    return name if name == " ".join(name.split()) else name.replace(" ", "␣")


def _short(name: str, limit: int) -> str:
    name = _visible(name)
    return name if len(name) <= limit else name[: limit - 1] + "…"


def _width(text: str, size: float, advance: float = 0.6) -> float:
    """The width of text in Plex Mono (exact) or, with a smaller advance, in Plex Sans (approximate)."""
    ems = (0 if unicodedata.combining(c) else 1 if unicodedata.east_asian_width(c) in "WF" else advance for c in text)
    return size * sum(ems)


def _named(shown: str, name: str) -> str:
    """The text of an element, with the full name as a tooltip if the name was cut."""
    title = f"<title>{escape(_visible(name))}</title>" if shown != _visible(name) else ""
    return title + escape(shown)
