"""Turn a notebook of the book into a plain one, which Colab and every other viewer can show.

Directives and roles of MyST become plain Markdown, cross-references links to the hosted book. What would give an
answer away goes to the end, into cells that are folded and have no outputs. The build does this for every notebook
(tools/hosted.py); nothing here depends on Sphinx.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

__all__ = ["Hosted", "Unknown", "left_over", "markdown", "plain"]

STATEMENTS = {"theorem", "proposition", "corollary", "lemma", "definition", "remark", "example", "algorithm", "proof"}
ADMONITIONS = {"note", "tip", "hint", "important", "warning", "caution", "attention", "danger", "seealso"}
CODE = {"code", "code-block", "sourcecode"}
UNSEEN = {"index", "solution-end"}  # nothing that a reader would see
SHOWN = {"math": "${}$", "sub": "<sub>{}</sub>", "sup": "<sup>{}</sup>", "kbd": "`{}`", "code": "`{}`"}
FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}

OPENING = re.compile(r"(?P<indent> *)(?P<fence>`{3,}|~{3,}|:{3,})(?:\{(?P<name>[\w:-]+)\} *(?P<argument>.*)|[^`]*)")
OPTION = re.compile(r":(?P<name>[\w-]+):(?: +(?P<value>.*))?")
LABEL = re.compile(r"\([\w:.-]+\)=")
ASIDE = re.compile(r"%.*|\+\+\+.*|\{[.#][^{}]*\}")  # comments, and attributes of the next block
DEFINITION = re.compile(r"^(?P<term>\S.*)\n: +(?P<text>.*(?:\n {2,}\S.*)*)$", re.MULTILINE)
INLINE = re.compile(
    r"(?:\{(?P<role>[a-z][\w:+-]*)\})?(?P<ticks>`+)(?P<content>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|(?P<math>\$\$.+?\$\$|\$(?:\\.|[^$\\])+\$)(?: \([\w:-]+\)$)?"
    r"|(?P<link>!?\[[^\]]*\]\()(?P<file>[^)\s]+)\)(?:\{[^{}]*\})?",
    re.DOTALL | re.MULTILINE,
)

# What must not be left in a plain notebook: directives, roles, labels, comments.
MYST = re.compile(
    r"^ *(?:`{3,}|~{3,}|:{3,})\{.*|\{[a-z][\w:+-]*\}`[^`]+`|^\([\w:.-]+\)=$|^%.*|\$\$ \([\w:-]+\)$|^:{3,}$",
    re.MULTILINE,
)


class Unknown(ValueError):
    """MyST that has no plain form yet."""


@dataclass(frozen=True)
class Hosted:
    """What a copy has to know about the book that it links to."""

    page: str  # the address of the chapter in the hosted book
    role: Callable[[str, str], str]  # the role and its content to Markdown, usually a link
    file: Callable[[str], str]  # a relative link to its address
    number: Callable[[str], str] = lambda label: ""  # a label to "Theorem 2.3"
    folder: Path = Path()  # where the source is, for the files that it includes


@dataclass
class _Solution:
    title: str
    words: list[str] = field(default_factory=list)
    code: list = field(default_factory=list)


def markdown(text: str, hosted: Hosted) -> str:
    """The plain Markdown of a text in MyST."""
    parts, prose, lines = [], [], text.split("\n")

    def end_prose():
        words = DEFINITION.sub(r"- \g<term>: \g<text>", "\n".join(prose))
        parts.append(_inline(re.sub(r"\n{3,}", "\n\n", words).strip("\n"), hosted))
        prose.clear()

    at = 0
    while at < len(lines):
        if opening := OPENING.fullmatch(lines[at]):
            end = _closing(lines, at, opening["fence"])
            end_prose()
            if opening["name"]:
                body = [line.removeprefix(opening["indent"]) for line in lines[at + 1 : end]]
                said = _directive(opening["name"], opening["argument"].strip(), body, hosted)
                parts.append("\n".join(opening["indent"] + line if line else "" for line in said.split("\n")).rstrip())
            else:
                parts.append("\n".join(lines[at : end + 1]))
            at = end
        elif not LABEL.fullmatch(lines[at]) and not ASIDE.fullmatch(lines[at]):
            prose.append(lines[at])
        at += 1
    end_prose()
    return "\n\n".join(part for part in parts if part.strip())


def _closing(lines: list[str], at: int, fence: str) -> int:
    end = re.compile(rf" *{fence[0]}{{{len(fence)},}} *")
    for number in range(at + 1, len(lines)):
        if end.fullmatch(lines[number]):
            return number
    raise Unknown(f"{lines[at]!r} is not closed.")


def _inline(text: str, hosted: Hosted) -> str:
    def turned(found: re.Match) -> str:
        if found["math"]:
            return found["math"]
        if found["file"]:
            return f"{found['link']}{_address(found['file'], hosted)})"
        if not found["role"]:
            return found[0]
        if shape := SHOWN.get(found["role"]):
            return shape.format(found["content"])
        return hosted.role(found["role"], " ".join(found["content"].split()))

    return INLINE.sub(turned, text)


def _address(file: str, hosted: Hosted) -> str:
    return file if re.match(r"[a-z]+:", file) else hosted.file(file)


def _directive(name: str, argument: str, body: list[str], hosted: Hosted) -> str:
    options = {}
    while body and (option := OPTION.fullmatch(body[0])):
        options[option["name"]] = option["value"] or ""
        body = body[1:]
    text, kind = "\n".join(body).strip("\n"), name.removeprefix("prf:")
    if name in UNSEEN:
        return ""
    if name == "div":
        return markdown(text, hosted)
    if name == "dropdown":
        return f"<details><summary>{argument}</summary>\n\n{markdown(text, hosted)}\n\n</details>"
    if name == "exercise" or (name.startswith("prf:") and kind in STATEMENTS):
        head = hosted.number(options["label"]) if options.get("label") else ""
        title = f" ({_inline(argument, hosted)})" if argument else ""
        shape = "### {}{}" if name == "exercise" else "**{}**{}"
        return f"{shape.format(head or kind.title(), title)}\n\n{markdown(text, hosted)}"
    if name in ADMONITIONS or name == "admonition":
        title = argument if name == "admonition" else name.title()
        lead = f"{argument}\n\n" if argument and name != "admonition" else ""
        return f"**{_inline(title, hosted)}**\n\n{markdown(lead + text, hosted)}"
    if name in ("figure", "image"):
        picture = f"![{options.get('alt', '')}]({_address(argument, hosted)})"
        return f"{picture}\n\n{markdown(text, hosted)}" if text else picture
    if name == "math":
        return f"$$\n{f'{argument} {text}'.strip()}\n$$"
    if name in CODE:
        return _code(argument, text)
    if name == "literalinclude":
        return _code(options.get("language", ""), (hosted.folder / argument).read_text(encoding="utf-8").strip("\n"))
    raise Unknown(f"{{{name}}} has no plain form yet. Give it one in tools/plain.py, or write it another way.")


def _code(language: str, text: str) -> str:
    longest = max(map(len, re.findall(r"`{3,}", text)), default=2)
    return f"{'`' * (longest + 1)}{language}\n{text}\n{'`' * (longest + 1)}"


def plain(nb: nbformat.NotebookNode, hosted: Hosted) -> nbformat.NotebookNode:
    """The plain copy of a notebook. The same notebook gives the same bytes."""
    cells, answers, solutions, names = [], [], [], {}
    open_: _Solution | None = None
    for cell in nb.cells:
        key = cell["id"]
        if cell.cell_type == "markdown":
            names |= dict(_exercises(cell.source, hosted))
            for number, (mark, text) in enumerate(_pieces(cell.source)):
                if mark:
                    open_ = _Solution(names.get(mark) or mark)
                    solutions.append(open_)
                elif mark is not None:
                    open_ = None
                words = markdown(text, hosted)
                if words and open_:
                    open_.words.append(words)
                elif words:
                    cells.append(new_markdown_cell(words, id=_id(key, number)))
        elif cell.cell_type == "code" and open_:
            open_.code.append(cell)
        elif cell.cell_type == "code" and "Predict(" in cell.source:
            rest, predictions = _predictions(cell.source)
            if rest:
                cells.append(_folded(new_code_cell(rest, id=key)))
            for call, question, options in predictions:
                answers.append(call)
                choices = "\n".join(f"- {option}" for option in options)
                asked = f"*Prediction {len(answers)}.* {question}\n\n{choices}\n\n*Its answer is at the end.*"
                cells.append(new_markdown_cell(asked, id=_id(key, len(answers))))
        elif cell.cell_type == "code":
            if re.search(r"\b(Lab|LockStep)\(", cell.source):  # Colab's frame has no address that a link could name
                page = f'page="{hosted.file("lab.ipynb")}"'
                source = re.sub(r'link=True|page="lab\.html"', page, cell.source)
                cell = nbformat.from_dict({**cell, "source": source})
            cells.append(_run_anew(cell))
    if answers or solutions:
        cells.append(new_markdown_cell(_END, id="the-end"))
    for number, call in enumerate(answers, start=1):
        cells.append(_form(f"Answer to prediction {number}", call, f"answer-{number}"))
    for number, solution in enumerate(solutions, start=1):
        if solution.words:
            words = "\n\n".join(solution.words)
            folded = f"<details><summary>{solution.title}, the solution in words</summary>\n\n{words}\n\n</details>"
            cells.append(new_markdown_cell(folded, id=f"words-{number}"))
        for part, cell in enumerate(solution.code):
            cells.append(_form(f"{solution.title}, the solution", cell.source, _id(f"solution-{number}", part)))
    title = next(i for i, cell in enumerate(cells) if cell.cell_type == "markdown" and cell.source.startswith("# "))
    cells.insert(title + 1, new_markdown_cell(_ABOUT.format(hosted.page), id="about-this-copy"))
    about = {
        "colab": {"provenance": [], "toc_visible": True},
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return nbformat.from_dict({"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5})


_ABOUT = "*A copy of [this page]({}) to run and to change. Its links lead to the book.*"
_END = (
    "## Answers and solutions\n\nFolded away: open a cell to read it, run it to see what it gives. A solution defines "
    "its function anew."
)


def left_over(nb: nbformat.NotebookNode) -> list[str]:
    """The MyST in the Markdown of a notebook, code aside."""
    found = []
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            words = re.sub(r"^( *)(`{3,})(?!\{)[^`]*?^\1\2`*$", "", cell.source, flags=re.MULTILINE | re.DOTALL)
            words = INLINE.sub(lambda part: "" if part["ticks"] and not part["role"] else part[0], words)
            found += [match[0] for match in MYST.finditer(words)]
    return found


def _exercises(text: str, hosted: Hosted):
    """The label of each exercise in a cell, and what to call it."""
    for heading, label in re.findall(r"^ *`{3,}\{exercise\} *(.*)\n:label: +(\S+)", text, re.MULTILINE):
        yield label, f"{hosted.number(label) or 'Exercise'} ({heading.split(' · ')[0]})"


def _pieces(text: str):
    """A cell cut where solutions begin and end: each piece, with the label of its solution, or "" after a solution."""
    cut = re.compile(r"^(`{3,})\{solution-(start|end)\} *(\S*)\n(?:.*\n)*?\1 *$", re.MULTILINE)
    at, mark = 0, None
    for found in cut.finditer(text):
        yield mark, text[at : found.start()]
        at, mark = found.end(), found[3] if found[2] == "start" else ""
    yield mark, text[at:]


def _predictions(source: str) -> tuple[str, list[tuple[str, str, list[str]]]]:
    """The other statements of a cell, and each of its predictions: the call, the question, the options."""
    lines, found, rest = source.split("\n"), [], []
    for statement in ast.parse(source).body:
        text = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="Predict"), args=[question, options, *_])):
                try:
                    found.append((text, ast.literal_eval(question), ast.literal_eval(options)))
                except ValueError:
                    raise Unknown(
                        f"Write question and options of a prediction as string literals: {text[:80]}…"
                    ) from None
            case _:
                rest.append(text)
    if "Predict(" in "\n".join(rest):
        raise Unknown(f"Make Predict(question, options, …) a statement of its own: {source[:80]}…")
    return "\n".join(rest), found


def _run_anew(cell):
    """The cell without the outputs that only a new run can show: widgets need their kernel."""
    copy = new_code_cell(cell.source, id=cell["id"], outputs=cell.outputs, execution_count=cell.execution_count)
    copy.outputs = [output for output in cell.outputs if "<script" not in output.get("data", {}).get("text/html", "")]
    if len(copy.outputs) < len(cell.outputs):
        copy.execution_count = None
    return _folded(copy) if FOLDED & {*cell.metadata.get("tags", [])} else copy


def _folded(cell):
    cell.metadata |= {"cellView": "form", "jupyter": {"source_hidden": True}}
    return cell


def _form(title: str, code: str, key: str):
    return _folded(new_code_cell(f'#@title {title} {{display-mode: "form"}}\n{code}', id=key))


def _id(key: str, number: int) -> str:
    return f"{key[:58]}-{number}" if number else key
