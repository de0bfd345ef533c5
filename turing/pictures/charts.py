"""Charts: matplotlib's, in the one style of the book.

matplotlib draws with the light colours and with a font that it brings along, so the same chart has the same bytes
everywhere. In what it has drawn, the page's variables take their place.

Chapter: :doc:`How fast </book/how-fast>`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from io import StringIO
from typing import Any

from turing.pictures import base
from turing.pictures.base import Picture, _picture

# What matplotlib calls a colour, and what the page does.
INK, GROUND, QUIET, LINE, ATTENTION = "#1B1F27", "#FFFFFF", "#63636B", "#C9CBD1", "#8A3F94"
COLOURS = {
    INK: base.INK,
    GROUND: base.GROUND,
    QUIET: base.QUIET,
    LINE: base.LINE,
    ATTENTION: base.ATTENTION,
    "#B3440E": base.STATE,
    "#0067A8": base.SYMBOL,
    "#00734F": "var(--turing-pos,#00734F)",
}
MONO = "DejaVu Sans Mono"
FONTS = {f"'{MONO}'": base.MONO, "'DejaVu Sans'": base.SANS}
FONT = 17
STYLE = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": FONT,
    "text.color": INK,
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.1,
    "axes.facecolor": "none",
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.labelpad": 6,
    "axes.linewidth": 1,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": f"cycler('linestyle', ['-', '--', ':', '-.']) * cycler('color', ['{INK}'])",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.titlelocation": "left",  # the name of the upright axis, which is easier to read there than on its side
    "axes.titlesize": FONT,
    "axes.titlepad": 10,
    "grid.color": LINE,
    "grid.linewidth": 1,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.major.pad": 5,
    "ytick.major.pad": 8,
    "xtick.major.width": 1,
    "xtick.major.size": 5,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 1.5,
    "lines.markersize": 7,
    "lines.markeredgewidth": 1.5,
    "patch.edgecolor": INK,
}


def chart(draw: Callable[[Any], object], alt: str, width: int = 480, height: int = 300, **subplots: Any) -> Picture:
    """A helper of the book's figures: a chart that ``draw`` draws on matplotlib's axes, as a :class:`Picture`.

    Lines are black, or light on a dark page, and those after the first are dashed. ``alt`` is the text for those who
    cannot see it. ``subplots`` goes to ``Figure.subplots``: with ``nrows`` or ``ncols``, ``draw`` is given an array of
    axes.

    >>> turing.pictures.chart(lambda axes: axes.plot([1, 2, 4]), "A line from 1 to 4. It bends.")
    <Picture: A line from 1 to 4. …>

    Chapter: :doc:`How fast </book/how-fast>`.
    """
    from matplotlib import style  # import turing does without matplotlib
    from matplotlib.figure import Figure

    with style.context(["default", {**STYLE, "svg.hashsalt": alt}]):
        figure = Figure(figsize=(width / 72, height / 72))  # an SVG of matplotlib has 72 units to the inch
        draw(figure.subplots(**subplots))
        file = StringIO()
        figure.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return _picture("turing-chart", width, height, alt, [_for_the_page(file.getvalue())])


def _for_the_page(svg: str) -> str:
    """The body of matplotlib's SVG with the page's colours and fonts, and no id but those it refers to."""
    body = svg[svg.index("</defs>") + len("</defs>") : svg.rindex("</svg>")]  # its style sheet is for a whole page
    body = re.sub(r"\s*\n\s*(?=[^<]*>)", " ", re.sub(r"\n\s*", "\n", body)).strip()
    body = re.sub(r'<g id="[^"]*"', "<g", body)
    body = re.sub(r"\d+\.\d{3,}(?=[^<]*>)", lambda number: f"{float(number[0]):.2f}", body)
    for font, variable in FONTS.items():
        body = body.replace(font, variable)

    def of_the_page(colour: re.Match[str]) -> str:
        if colour[0].upper() not in COLOURS:
            raise ValueError(
                f"The colour {colour[0]} would not follow the page from light to dark. "
                f"A chart has the colours {', '.join(COLOURS)}, by their names in turing.pictures.charts."
            )
        return COLOURS[colour[0].upper()]

    body = re.sub(r"#[0-9a-f]{6}(?=[;\"])", of_the_page, body)
    look = f"stroke-linejoin:round;fill:{base.INK}"  # without a fill, what matplotlib calls black
    return f'<g xmlns:xlink="http://www.w3.org/1999/xlink" style="{look}">\n{body}\n</g>'
