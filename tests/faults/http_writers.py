"""Clients that write to servers and hand files to workers while these are killed."""

import time

import httpx
from store_writer import NAMES

SOURCES_PER_WRITER, FILES = 30, 40
CHANGES_PER_RUN = 12
RETRY_SECONDS = 0.05


class HttpWriter:
    """Writes documents and facts of its own; repeats a request that was not answered until it is."""

    def __init__(self, number, servers, chance):
        self.documents, self.facts = {}, {}
        """Texts and versions by source, and ids of facts by value, as the servers have acknowledged them."""
        self.calls = self.repeated = 0
        self._number, self._servers, self._chance = number, servers, chance

    def write_until(self, deadline):
        """Write until a deadline. Whatever one server acknowledges, the other one returns."""
        while time.time() < deadline:
            self.calls += 1
            source = f"memo:{self._number}/{self._chance.randrange(SOURCES_PER_WRITER)}"
            act = self._chance.choices(["add", "delete", "fact", "forget"], [6, 2, 2, 1])[0]
            if act == "add":
                self._add(source)
            elif act == "delete" and source in self.documents:
                self._send("DELETE", "/documents", params={"source": source}, missing=True)
                del self.documents[source]
            elif act == "fact":
                value = f"{self._number}/{self.calls}"
                fact = {"subject": f"{self._chance.choice(NAMES)} Service", "predicate": "port", "value": value}
                answer = self._send("POST", "/facts", json={"facts": [fact]})
                self.facts[value] = answer["facts"][0]["fact"]["id"]
            elif act == "forget" and self.facts:
                value = self._chance.choice(sorted(self.facts))
                self._send("DELETE", f"/facts/{self.facts.pop(value)}", missing=True)
            self._look(source)

    def _add(self, source):
        text = make_text(self._chance, self.calls)
        given = {"source": source, "text": text, "title": source, "metadata": {"version": self.calls}}
        receipt = self._send("POST", "/documents", json={"documents": [given]})
        assert receipt["documents"] == 1 and not receipt["skipped"], receipt
        self.documents[source] = text, self.calls

    def _look(self, source):
        """Read a document from any server and compare it with what was acknowledged."""
        listed = self._send("GET", "/documents", params={"prefix": source, "limit": 100})["documents"]
        found = {item["source"]: item["metadata"]["version"] for item in listed}
        version = self.documents.get(source, ("", None))[1]
        assert found.get(source) == version, f"{source} is {found.get(source)}, acknowledged as {version}"

    def _send(self, method, path, *, missing=False, **options):
        """Send a request to any server until one answers; the answer to a repeated deletion may be 404."""
        is_repeated = False
        while True:
            address = self._chance.choice(self._servers).address
            try:
                answer = httpx.request(method, address + path, timeout=120, **options) if address else None
            except httpx.TransportError:
                answer, is_repeated = None, True
            if answer is not None:
                self.repeated += is_repeated
                assert answer.is_success or (missing and is_repeated and answer.status_code == 404), answer.text
                return answer.json()
            time.sleep(RETRY_SECONDS)


class FileWriter:
    """Changes files and has workers index them."""

    def __init__(self, folder, engine, chance):
        self.folder, self.runs, self.unfinished = folder, 0, 0
        self._engine, self._chance = engine, chance
        folder.mkdir()

    def write_until(self, deadline):
        """Change files and index them, until a deadline; then index what is left."""
        while time.time() < deadline:
            self.runs += 1
            for number in self._chance.sample(range(FILES), CHANGES_PER_RUN):
                (self.folder / f"{number:02}.md").write_text(make_text(self._chance, self.runs))
            self.unfinished += not self._index()
        while not self._index():
            self.unfinished += 1

    def _index(self):
        """Index by the workers; return True if no job failed because three workers died of it."""
        receipt = self._engine.index(self.folder, workers=0)
        skipped = {item.reason for item in receipt.skipped}
        assert skipped <= {"failed"}, receipt.skipped
        if skipped:
            return False
        again = self._engine.index(self.folder)
        assert again.unchanged == len(list(self.folder.iterdir())), again
        return True


def make_text(chance, version):
    """Return a document about two services."""
    first, second = chance.sample(NAMES, 2)
    return f"# {first} Service\n\nThe {first} Service depends on the {second} Service. Release {version}.\n"
