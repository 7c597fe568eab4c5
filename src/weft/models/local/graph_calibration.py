"""
Choice of the fastest graph and number of threads for a processor, remembered in the folder of the model.

    calibration.json                        the choices, by machine and number of cores
    <precision>-<version>-<crc32>.onnx      the chosen graph, if it is not the installed one

Both are derived data: a file that is missing, damaged or of another version is ignored, and the installed graph runs.
"""

from __future__ import annotations

import json
import logging
import platform
import time
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from weft.errors import ModelUnavailable
from weft.models.local.catalog import Architecture
from weft.models.local.model_folder import ONNX_FILE, InstalledModel, read_verified
from weft.models.local.onnx_graph import GRAPH_VERSION, Precision, build_model
from weft.models.local.onnx_session import OnnxSession
from weft.models.local.weights import Encoder, read_graph
from weft.records import Vectors
from weft.temporary_files import temporary_file

logger = logging.getLogger(__name__)

CALIBRATION_FILE = "calibration.json"

PRECISIONS: tuple[Precision, ...] = ("float32", "int8", "int8-wide")
"""Candidates, the most precise first."""
MIN_GAIN = 1.1
"""A less precise graph must embed this many times as many texts. Smaller differences are within the noise."""
MAX_COSINE_DISTANCE = 0.001
"""Maximum cosine distance to float32. A graph beyond it is broken on this processor (decision 0036)."""
GRAPH_SECONDS = 0.2
"""Time to measure one graph, and one number of threads. With five of them, calibration takes a second."""
MIN_SECONDS = 1e-6
"""Lower bound of a measured time. The clock of CPU time has steps of 0.016 s on some systems."""
SAMPLE_TEXTS = 3
"""Number of texts of the sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """How texts are embedded on one machine."""

    precision: Precision = "int8"
    workers: int
    """Number of texts that run at the same time."""
    threads: int = 1
    """Number of threads of each run."""
    texts_per_second: float = 0.0
    """Measured rate of the sample; 0 if it was not measured."""


def machine_key() -> str:
    """Return what the choice of a graph is valid for: processor, onnxruntime and version of the graphs."""
    return ", ".join((platform.machine(), _processor_name(), onnxruntime.__version__, f"graphs {GRAPH_VERSION}"))


def read_plan(installed: InstalledModel, *, cores: int) -> RunPlan | None:
    """
    Return the remembered plan of this machine; None if there is none.

    A plan for another number of cores gives the graph: vectors do not depend on the number of threads.
    """
    plans = _read_plans(installed)
    if known := plans.get(str(cores)):
        return known
    precision = next((plan.precision for plan in plans.values()), None)
    return RunPlan(precision=precision, workers=cores) if precision else None


def find_graph(installed: InstalledModel, precision: Precision) -> bytes | None:
    """Return the chosen graph if it was stored for this version and has the checksum in its name, else None."""
    with suppress(OSError):
        for path in sorted(installed.folder.glob(f"{precision}-{GRAPH_VERSION}-*.onnx")):
            content = path.read_bytes()
            if path == _graph_path(installed, precision, content=content):
                return content
    return None


def calibrate(
    installed: InstalledModel, *, architecture: Architecture, texts: Sequence[Sequence[int]], cores: int
) -> RunPlan:
    """
    Measure the graphs on a sample of `texts` (token ids), then the numbers of threads; store and return the plan.

    Raises `ModelUnavailable` if no graph runs.
    """
    encoder = read_graph(read_verified(installed, name=ONNX_FILE), architecture=architecture)
    sample = choose_sample(texts)
    rates, graphs = _measure_graphs(encoder, architecture=architecture, sample=sample)
    precision = choose_precision(rates)
    workers, threads, rate = _measure_threads(graphs[precision], sample=sample, cores=cores)
    plan = RunPlan(precision=precision, workers=workers, threads=threads, texts_per_second=round(rate, 1))
    logger.info("calibrated: %s; texts/s of one thread: %s", plan, rates)
    _store(installed, plan=plan, graph=graphs[precision], cores=cores)
    return plan


def make_float_graph(graph: bytes, *, architecture: Architecture) -> bytes:
    """Return the float32 graph with the weights of an installed one. All execution providers have its operators."""
    return build_model(read_graph(graph, architecture=architecture), architecture=architecture, precision="float32")


def choose_sample(texts: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """Return texts around the median length."""
    ordered = sorted(texts, key=len)
    start = max(0, (len(ordered) - SAMPLE_TEXTS) // 2)
    return ordered[start : start + SAMPLE_TEXTS]


def choose_precision(rates: Mapping[Precision, float]) -> Precision:
    """Return the fastest graph; between almost equal ones, the more precise one."""
    known = [precision for precision in PRECISIONS if precision in rates]
    best = known[0]
    for precision in known[1:]:
        if rates[precision] >= MIN_GAIN * rates[best]:
            best = precision
    return best


def _measure_graphs(
    encoder: Encoder, *, architecture: Architecture, sample: Sequence[Sequence[int]]
) -> tuple[dict[Precision, float], dict[Precision, bytes]]:
    """Return texts/s on one thread, and the graphs. A graph that fails or is imprecise is left out."""
    graphs, sessions, expected = dict[Precision, bytes](), dict[Precision, OnnxSession](), None
    for precision in PRECISIONS:
        try:
            graph = build_model(encoder, architecture=architecture, precision=precision)
            session = OnnxSession(graph)
            vectors = _run(session, sample)
        except ModelUnavailable as error:
            logger.info("graph %s cannot run: %s", precision, error)
            continue
        expected = vectors if expected is None else expected
        if not is_close(vectors, expected):
            logger.info("graph %s is too imprecise on this processor", precision)
            continue
        graphs[precision], sessions[precision] = graph, session
    if not graphs:
        raise ModelUnavailable("no graph of the model runs", hint="run `weft models fetch` again")
    seconds = dict.fromkeys(graphs, float("inf"))
    deadline = time.perf_counter() + GRAPH_SECONDS * len(graphs)
    while time.perf_counter() < deadline:
        for precision, session in sessions.items():
            start = time.thread_time()  # CPU time: other work on the machine does not decide
            _run(session, sample)
            seconds[precision] = min(seconds[precision], max(time.thread_time() - start, MIN_SECONDS))
    return {precision: round(len(sample) / seconds[precision], 1) for precision in graphs}, graphs


def _run(session: OnnxSession, texts: Sequence[Sequence[int]]) -> Vectors:
    return np.stack([session.encode(text) for text in texts])


def is_close(vectors: Vectors, expected: Vectors) -> bool:
    """Return True if every vector is within `MAX_COSINE_DISTANCE` of the expected one."""
    return bool(((vectors * expected).sum(axis=1) >= 1 - MAX_COSINE_DISTANCE).all())


def _measure_threads(graph: bytes, *, sample: Sequence[Sequence[int]], cores: int) -> tuple[int, int, float]:
    """Return workers, threads per run and texts/s of the fastest division of the cores."""
    # Half of the cores: two of them may share a physical one. With two cores, that would leave one idle.
    candidates = [(cores, 1), *([(1, cores)] if cores > 1 else []), *([(cores // 2, 1)] if cores > 3 else [])]
    rates = {
        (workers, threads): _measure_rate(OnnxSession(graph, threads=threads), sample=sample, workers=workers)
        for workers, threads in candidates
    }
    workers, threads = max(rates, key=lambda division: rates[division])
    return workers, threads, rates[workers, threads]


def _measure_rate(session: OnnxSession, *, sample: Sequence[Sequence[int]], workers: int) -> float:
    _run(session, sample)
    done, start = 0, time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        while time.perf_counter() < start + GRAPH_SECONDS:
            done += len(list(pool.map(session.encode, [*sample] * workers)))
    return done / (time.perf_counter() - start)


def _store(installed: InstalledModel, *, plan: RunPlan, graph: bytes, cores: int) -> None:
    """Write plan and graph. Without write permission, this process alone uses them."""
    same_graph = {key: known for key, known in _read_plans(installed).items() if known.precision == plan.precision}
    plans = {key: asdict(known) for key, known in (same_graph | {str(cores): plan}).items()}
    stored = _read_file(installed) | {machine_key(): plans}
    try:
        if graph != read_verified(installed, name=ONNX_FILE):
            _write(_graph_path(installed, plan.precision, content=graph), graph)
        _write(installed.folder / CALIBRATION_FILE, json.dumps(stored, indent=2).encode())
    except OSError as error:
        logger.info("cannot store the calibration: %s", error)


def _write(path: Path, content: bytes) -> None:
    with temporary_file(path) as partial:
        partial.write_bytes(content)
        partial.replace(path)


def _read_plans(installed: InstalledModel) -> dict[str, RunPlan]:
    """Return the valid plans of this machine by number of cores."""
    stored = _read_file(installed).get(machine_key())
    if not isinstance(stored, dict):
        return {}
    plans = {cores: _make_plan(fields) for cores, fields in stored.items()}
    return {cores: plan for cores, plan in plans.items() if plan}


def _make_plan(fields: object) -> RunPlan | None:
    match fields:
        case {
            "precision": precision,
            "workers": int(workers),
            "threads": int(threads),
            "texts_per_second": float(rate),
        }:
            if precision in PRECISIONS and workers >= 1 and threads >= 1:
                return RunPlan(precision=precision, workers=workers, threads=threads, texts_per_second=rate)
    return None


def _read_file(installed: InstalledModel) -> dict[str, Any]:
    try:
        stored = json.loads((installed.folder / CALIBRATION_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _graph_path(installed: InstalledModel, precision: Precision, *, content: bytes) -> Path:
    return installed.folder / f"{precision}-{GRAPH_VERSION}-{zlib.crc32(content):08x}.onnx"


def _processor_name() -> str:
    """Return the processor's name, or on ARM its part number and instructions, which name it less clearly."""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
        fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
        if name := fields.get("model name") or fields.get("CPU part"):
            return name
    return platform.processor() or "unknown processor"
