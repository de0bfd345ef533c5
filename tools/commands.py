"""A Sphinx extension: directives that show what the command line says of itself, in tables that fit on a phone.

- `command` shows the usage of a command, its arguments and its options
- `network-options` shows the options that constructions add to these
- `exit-status` shows what the exit statuses mean
"""

from __future__ import annotations

import argparse
import os
import re

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from turing.cli import EXIT, _options_of, _parser

COLUMNS = "46"  # of the usage: what a phone shows
CODE = re.compile(r"python -m [\w.]+|(?<!\S)(?:--?[\w-]*|\.[a-z]+)|'[^']+'|… \| head")  # in the text of a help


def command(name: str, construction: str | None = None) -> argparse.ArgumentParser:
    actions = _parser(construction)._actions
    (commands,) = (action for action in actions if isinstance(action, argparse._SubParsersAction))
    return commands.choices[name]


def row(parser: argparse.ArgumentParser, action: argparse.Action) -> tuple[str, str]:
    own = parser._get_formatter()
    return f"`{own._format_action_invocation(action)}`", marked(own._expand_help(action))


def marked(text: str) -> str:
    return CODE.sub(r"`\g<0>`", text)


def table(*rows: tuple[str, ...]) -> str:
    """A table in Markdown; the first row is its head."""
    head, *others = ([cell.replace("|", r"\|") for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *others))


class Command(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        os.environ["COLUMNS"] = COLUMNS  # as wide on every machine
        parser = command(self.arguments[0])
        usage = parser.format_usage()
        rows = [row(parser, action) for action in parser._actions if not isinstance(action, argparse._HelpAction)]
        found = self.parse_text_to_nodes(table(("argument", "meaning"), *rows))
        return [nodes.literal_block(usage, usage, language="text"), *found]


class NetworkOptions(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        from turing.construction import constructions

        networks: dict[tuple[str, str], list[str]] = {}
        for name in constructions():
            parser, own = command("compile", name), {f"--{option}" for option in _options_of(name)}
            for action in parser._actions:
                if own & {*action.option_strings}:
                    networks.setdefault(row(parser, action), []).append(f"`{name}`")
        rows = [(option, f"{', '.join(names)}: {meaning}") for (option, meaning), names in networks.items()]
        return self.parse_text_to_nodes(table(("option", "meaning"), *rows))


class ExitStatus(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        of = lambda who: f"`{who}`" if who.isalpha() else who or "all"  # noqa: E731
        rows = [(f"`{status}`", of(who), marked(what)) for status, who, what in EXIT]
        return self.parse_text_to_nodes(table(("status", "command", "meaning"), *rows))


def setup(app):
    app.add_directive("command", Command)
    app.add_directive("network-options", NetworkOptions)
    app.add_directive("exit-status", ExitStatus)
    return {"parallel_read_safe": True}
