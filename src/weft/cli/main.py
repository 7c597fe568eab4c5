"""Command `weft`: the table of verbs, loaded on use, and the entry point."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from weft.cli.options import Session, common_options

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Index": {
        "index": ("weft.cli.index.index:index", "Index files, folders or standard input."),
        "worker": ("weft.cli.index.worker:worker", "Index documents queued by `weft index --workers`."),
        "estimate": ("weft.cli.index.estimate:estimate", "Estimate the cost and the time of indexing."),
        "reembed": ("weft.cli.index.reembed:reembed", "Re-embed all chunks with another embedder."),
        "list": ("weft.cli.index.documents:list_documents", "List documents by source."),
        "get": ("weft.cli.index.documents:get", "Print a document or a chunk."),
        "open": ("weft.cli.index.open:open_citation", "Open a citation in the editor."),
        "delete": ("weft.cli.index.documents:delete", "Delete documents and all data derived from them."),
    },
    "Search": {
        "query": ("weft.cli.search.query:query", "Search and print cited evidence."),
        "ask": ("weft.cli.search.ask:ask", "Print the sentence that answers a question, then its passages."),
        "related": (
            "weft.cli.search.related:related",
            "List the documents related to a document, a chunk or an entity.",
        ),
    },
    "Graph": {
        "entity": ("weft.cli.graph.entities:entity", "List, show, merge, rename and delete entities."),
        "neighbours": ("weft.cli.graph.entities:neighbours", "List the entities related to an entity."),
        "path": ("weft.cli.graph.entities:path", "Print the best path between two entities."),
        "import": ("weft.cli.graph.exchange:import_file", "Import a graph or a memory file."),
        "export": ("weft.cli.graph.exchange:export_file", "Export the graph to a file or standard output."),
    },
    "Memory": {
        "fact": ("weft.cli.memory.facts:fact", "Add, confirm, reject, expire, forget and list facts."),
        "forget": (
            "weft.cli.memory.forget:forget",
            "Erase conversations, all that contains a text, or secrets.",
        ),
        "recall": ("weft.cli.memory.facts:recall", "Print the facts relevant to a text."),
        "timeline": ("weft.cli.memory.timeline:timeline", "Print what was said in a period, by day, newest first."),
        "audit": (
            "weft.cli.memory.facts:audit",
            "List facts that need review, and documents with secrets.",
        ),
    },
    "Serve": {
        "serve": ("weft.cli.serve.serve:serve", "Serve the HTTP interface and the web page."),
        "mcp": ("weft.cli.serve.mcp:mcp", "Serve MCP clients over stdio or HTTP."),
        "hook": ("weft.cli.serve.hook:hook", "Answer a hook of an agent host, or show and switch hooks."),
        "daemon": ("weft.cli.serve.hook:daemon", "Answer hooks of agent hosts until idle."),
        "install": ("weft.cli.serve.install:install", "Register Weft as an MCP server with an agent host."),
        "keys": ("weft.cli.serve.keys:keys", "Create, list and revoke API keys."),
    },
    "Maintain": {
        "stats": ("weft.cli.maintain.maintenance:stats", "Print statistics of the namespace."),
        "namespaces": (
            "weft.cli.maintain.maintenance:namespaces",
            "List and drop namespaces.",
        ),
        "check": ("weft.cli.maintain.maintenance:check", "Check the store for inconsistencies."),
        "repair": ("weft.cli.maintain.maintenance:repair", "Rebuild derived data, then check the store."),
        "backup": ("weft.cli.maintain.maintenance:backup", "Write a consistent copy of the store file."),
        "compact": ("weft.cli.maintain.maintenance:compact", "Reclaim free space and erase deleted text."),
        "copy": ("weft.cli.maintain.copy:copy", "Copy namespaces to another store."),
        "db": ("weft.cli.maintain.db:db", "Create, check, index and vacuum the tables of a store."),
        "models": ("weft.cli.maintain.models:models", "List, fetch and show embedding models."),
        "config": ("weft.cli.maintain.config:config", "Print every setting and its origin."),
        "trust": ("weft.cli.maintain.trust:trust", "Apply all settings of a project file."),
        "doctor": ("weft.cli.maintain.doctor:doctor", "Check the installation and the store."),
        "completion": ("weft.cli.maintain.completion:completion", "Print the completion script of a shell."),
    },
    "Evaluate": {
        "eval": ("weft.cli.evaluate.evaluate:evaluate", "Measure retrieval quality on BEIR datasets."),
        "calibrate": ("weft.cli.evaluate.calibrate:calibrate", "Fit the confidence of answers to this namespace."),
    },
}
"""
Heading → verb → location and summary, in the order of `weft --help`.

The summary repeats the first sentence of the verb's docstring, because reading that would import the verb.
"""

COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}


class LazyGroup(click.Group):
    """Command group that imports a verb when it is used."""

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
        width = max(map(len, COMMANDS))  # the summaries of all groups start in one column
        for heading, verbs in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), summary) for name, (_, summary) in verbs.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 success, 1 error, 2 wrong usage, 3 no confident match. "
    "Global options may precede or follow the verb.",
)
@common_options
@click.version_option(package_name="weft-search", prog_name="weft")
@click.pass_context
def weft(ctx: click.Context) -> None:
    """Hybrid search over documents: vectors, keywords, knowledge graph."""
    ctx.ensure_object(Session)


def main() -> None:
    """Run the command line; the entry point of the package."""
    from weft.cli.errors import run_reporting

    sys.exit(run_reporting(weft))
