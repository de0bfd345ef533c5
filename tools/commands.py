"""A Sphinx extension: the directive `command` shows what the command line says of itself."""

from __future__ import annotations

import argparse
import os

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from turing.cli import _parser

COLUMNS = "92"


class Command(SphinxDirective):
    """The help of all commands, a section for each, and the exit status once."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        os.environ["COLUMNS"] = COLUMNS  # as wide on every machine
        parser = _parser()
        (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
        found: list[nodes.Node] = []
        for name, command in commands.choices.items():
            command.epilog = None
            found.append(self.section(f"turing {name}", command.format_help()))
        return [*found, self.section("Exit status", parser.epilog.partition("\n")[2])]

    def section(self, title: str, text: str) -> nodes.section:
        section = nodes.section(ids=[nodes.make_id(title)])
        section += nodes.title(text=title)
        block = nodes.literal_block(text, text)
        block["language"] = "text"
        section += block
        return section


def setup(app):
    app.add_directive("command", Command)
    return {"parallel_read_safe": True}
