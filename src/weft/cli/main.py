"""The command `weft`: finds the verb, turns errors into exit codes."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from weft.cli.options import Session, common_options

COMMANDS = {
    "index": ("weft.cli.index.index:index", "Index files, folders or standard input."),
    "estimate": ("weft.cli.index.estimate:estimate", "Say what asking a language model would cost; ask nothing."),
    "worker": ("weft.cli.index.worker:worker", "Index what `weft index` hands out, here or on another machine."),
    "query": ("weft.cli.search.query:query", "Ask a question; get cited evidence."),
    "get": ("weft.cli.index.documents:get", "Print a document or chunk."),
    "list": ("weft.cli.index.documents:list_documents", "List documents."),
    "delete": ("weft.cli.index.documents:delete", "Delete documents with all that derives from them."),
    "entity": ("weft.cli.graph.entities:entity", "List, show, merge and name entities."),
    "neighbours": ("weft.cli.graph.entities:neighbours", "List the entities around an entity."),
    "path": ("weft.cli.graph.entities:path", "Print the best path between two entities."),
    "fact": ("weft.cli.memory.facts:fact", "State, confirm, reject and forget facts."),
    "recall": ("weft.cli.memory.facts:recall", "Say what is known that bears on a question."),
    "audit": ("weft.cli.memory.facts:audit", "List facts that should be looked at."),
    "import": ("weft.cli.graph.exchange:import_file", "Add a graph that someone else built."),
    "export": ("weft.cli.graph.exchange:export_file", "Write the graph to a file."),
    "stats": ("weft.cli.maintain.maintenance:stats", "Say what the namespace holds."),
    "namespaces": ("weft.cli.maintain.maintenance:namespaces", "List or drop namespaces."),
    "check": ("weft.cli.maintain.maintenance:check", "Look for contradictions in the store."),
    "repair": ("weft.cli.maintain.maintenance:repair", "Derive again what can be derived."),
    "backup": ("weft.cli.maintain.maintenance:backup", "Write a consistent copy of the store."),
    "compact": ("weft.cli.maintain.maintenance:compact", "Give space back; leave no trace of deleted text."),
    "copy": ("weft.cli.maintain.copy:copy", "Move a namespace to another store, a file or a server."),
    "db": ("weft.cli.maintain.db:db", "Make, migrate, check and vacuum the tables of a store."),
    "reembed": ("weft.cli.index.reembed:reembed", "Switch to another embedder without reading documents again."),
    "calibrate": ("weft.cli.evaluate.calibrate:calibrate", "Fit the confidence of answers to this namespace."),
    "serve": ("weft.cli.serve.serve:serve", "Answer over HTTP."),
    "keys": ("weft.cli.serve.keys:keys", "Make, list and revoke keys for doors that others can reach."),
    "models": ("weft.cli.maintain.models:models", "List, fetch and show embedding models."),
    "config": ("weft.cli.maintain.config:config", "Print every setting and where it came from."),
    "eval": ("weft.cli.evaluate.evaluate:evaluate", "Measure retrieval on a set in BEIR layout."),
    "mcp": ("weft.cli.serve.mcp:mcp", "Serve MCP clients."),
    "doctor": ("weft.cli.maintain.doctor:doctor", "Check this installation and this store."),
    "completion": ("weft.cli.maintain.completion:completion", "Print the completion script of a shell."),
}
"""Verb → where it lives and what it does. Loaded when used, so that `weft --help` stays quick."""


class LazyGroup(click.Group):
    """A group that imports a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(error.message + hint, ctx=ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 fine, 1 error, 2 wrong usage, 3 no confident match. "
    "Global options work before and after the verb.",
)
@common_options
@click.version_option(package_name="weft-search", prog_name="weft")
@click.pass_context
def weft(ctx: click.Context) -> None:
    """Vectors, keywords and a knowledge graph woven into one ranked, explained, budgeted answer."""
    ctx.ensure_object(Session)


def main() -> None:
    """Run the command line; the entry point of the package."""
    from weft.cli.failure import run_reporting

    sys.exit(run_reporting(weft))
