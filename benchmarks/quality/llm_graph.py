"""
Effect of a language model on the graph, compared with the rules: recorded extractions, served as replies of a model.

    python benchmarks/quality/llm_graph.py
    python benchmarks/quality/llm_graph.py --sets 2wiki-dev --methods graph mix

`openie.jsonl` of a set has the extractions of GPT-3.5 for each passage: entities, and triples without weights, which
get the weight of verbs in the rules. A server on this machine sends them as replies, so prompt, request, reply and
resolution all run. Each set is evaluated with the rules alone and with both. The table has recall@2, @5 and @10, the
median milliseconds per question, and the seconds of indexing.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from sets import data_folder

from weft.config import read_settings
from weft.evaluate.retrieval import evaluate_folder
from weft.extract.statements import VERB_WEIGHT
from weft.text.normalise import squeeze

PASSAGE = re.compile(r"^Title: ([^\n]*)$.*?^(=====passage [0-9a-f]{16}=====)\n(.*)\n\2", re.DOTALL | re.MULTILINE)


class Recorded:
    """Recorded extractions of the passages of a set."""

    def __init__(self, folder: Path) -> None:
        read = {row["_id"]: row for row in map(json.loads, (folder / "openie.jsonl").read_text("utf-8").splitlines())}
        self._by_title: dict[str, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
        for row in map(json.loads, (folder / "corpus.jsonl").read_text("utf-8").splitlines()):
            self._by_title[squeeze(row["title"])[:300]].append((squeeze(row["text"]), read.get(row["_id"], {})))

    def reply(self, question: str) -> dict[str, Any]:
        """Return the recorded extraction of the passage in a request."""
        match = PASSAGE.search(question)
        title, text = (match[1], squeeze(match[3])) if match else ("", "")
        found = next((row for whole, row in self._by_title[title] if text in whole), {})
        names = list(found.get("entities", []))
        triples = [t for t in found.get("triples", []) if len(t) == 3]
        relations = [{"source": s, "target": o, "type": p, "weight": VERB_WEIGHT} for s, p, o in triples]
        return {"entities": [{"name": name} for name in names], "relations": relations, "facts": []}


@contextmanager
def serve(recorded: Recorded) -> Iterator[str]:
    """Serve the replies while the block runs; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            content = json.dumps(recorded.reply(request["messages"][-1]["content"]))
            body = json.dumps({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=["musique-train", "2wiki-dev"])
    parser.add_argument("--methods", nargs="+", default=["hybrid", "graph", "mix", "auto"])
    arguments = parser.parse_args()
    for name in arguments.sets:
        folder = data_folder() / name
        with serve(Recorded(folder)) as url:
            llm = {"graph.extractor": "llm", "llm.model": "openai/recorded-openie", "llm.base_url": url}
            for title, overrides in (("rules", {}), ("rules + llm", llm)):
                rows = evaluate_folder(folder, settings=read_settings(overrides), methods=arguments.methods)
                for row in rows:
                    figures = (row[key] for key in ("recall@2", "recall@5", "recall@10", "p50_ms", "index_seconds"))
                    print(name, title, row["method"], *figures, sep="\t", flush=True)


if __name__ == "__main__":
    main()
