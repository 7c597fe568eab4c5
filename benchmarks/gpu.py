"""
Embedding rate of the local model on the CPU and on a GPU, without an index. `indexing.py --device cuda` measures both.

    python benchmarks/gpu.py [--device cuda] [--set musique-train] [--texts 20000] [--model-dir DIR] [--only PART]

Runs with PYTHONPATH=src, without installation; it needs numpy and onnxruntime. PyTorch and OpenVINO are measured if
they are installed.

    model alone     median texts/s of several runs over tokenized texts, by runtime; texts per second of CPU time
                    do not depend on other work on the machine
    cosine          distance between the vectors of the CPU and those of the device
    recall@10       share of the relevant passages among the first ten, by either vectors

Texts are the passages of an evaluation set ($WEFT_DATA), or generated ones if there is none. They are repeated up to
`--texts`; each repetition gets a number of its own, so that no vector is cached.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from weft.errors import WeftError
from weft.models.local.catalog import GRANITE, LocalModel
from weft.models.local.gpu.length_batches import length_batches
from weft.models.local.weights import Encoder, read_graph

MODEL = GRANITE
PARTS = ("operators", "cpu", "device")
QUERIES = 200
CPU_REPEATS, GPU_REPEATS = 3, 5


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Passages with token ids, and questions with the numbers of their relevant passages."""

    origin: str
    texts: list[str]
    token_ids: list[list[int]]
    questions: list[list[int]]
    relevant: list[set[int]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", help="device of PyTorch")
    parser.add_argument("--model-dir", type=Path, default=None, help="folder of the model, or the folder above it")
    parser.add_argument("--set", default="musique-train", help="evaluation set in $WEFT_DATA")
    parser.add_argument(
        "--passages", type=int, default=2_000, help="passages of the set; each is embedded on the CPU once"
    )
    parser.add_argument("--texts", type=int, default=20_000, help="texts on the device")
    parser.add_argument("--cpu-texts", type=int, default=400, help="texts of the set on the CPU")
    parser.add_argument("--only", choices=PARTS, action="append", help="measure this part only; repeatable")
    options = parser.parse_args()
    describe_machine()
    folder = find_model(options.model_dir)
    graph = (folder / "model.onnx").read_bytes()
    sample = read_sample(folder, options.set, count=options.passages)
    lengths = [len(ids) for ids in sample.token_ids]
    print(f"texts: {len(sample.texts)} of {sample.origin}, {statistics.mean(lengths):.0f} tokens on average")
    parts = options.only or PARTS
    encoder = read_graph(graph, architecture=MODEL.architecture)
    if "operators" in parts:
        profile_operators(graph)
    if "cpu" in parts:
        measure_cpu(graph, sample, count=options.cpu_texts)
        measure_openvino(graph, sample, count=options.cpu_texts)
        measure_torch_on_cpu(encoder, sample, count=options.cpu_texts)
    if "device" in parts:
        device = measure_device(encoder, sample, device=options.device, count=options.texts)
        if device is not None:
            compare(graph, sample, device)


def describe_machine() -> None:
    packages = []
    for name in ("numpy", "onnxruntime", "torch", "tokenizers", "apsw"):
        try:
            packages.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            packages.append(f"{name} missing")
    print(f"{platform.machine()}, {cores()} cores, Python {platform.python_version()}; {', '.join(packages)}")
    for line in processor_lines():
        print(line)


def processor_lines() -> list[str]:
    """Return the processor's name and its instructions for matrices."""
    path = Path("/proc/cpuinfo")
    fields = [line.partition(":") for line in path.read_text().splitlines()] if path.exists() else []
    values = {key.strip(): value.strip() for key, _, value in fields}
    flags = {"avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8", "amx_bf16", "asimddp", "i8mm", "bf16"}
    known = sorted(flags & set((values.get("flags") or values.get("Features") or "").split()))
    return [f"processor: {values.get('model name', 'unknown')}; {' '.join(known)}"]


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def find_model(given: Path | None) -> Path:
    """Return the folder of the installed model."""
    home = given or Path(os.environ.get("WEFT_CACHE_DIR") or Path.home() / ".cache" / "weft") / "models"
    name = f"{MODEL.name}-{MODEL.fingerprint[:12]}"
    for folder in (home, home / name, home / "models" / name):
        if (folder / "model.onnx").exists():
            return folder
    sys.exit(f"no model in {home}: run `weft models fetch`, or pass --model-dir")


# ── texts ───────────────────────────────────────────────────────────────────────────────────────


def read_sample(folder: Path, name: str, *, count: int) -> Sample:
    """Return the passages and questions of an evaluation set, or generated ones."""
    home = Path(os.environ.get("WEFT_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / name
    if (home / "corpus.jsonl").exists():
        origin, texts, questions, relevant = name, *read_set(home, count=count)
    else:
        origin, texts, questions, relevant = "generated text", *generate_texts(count)
    tokenize = open_tokenizer(folder)
    tokenize(texts[:100])
    start = time.perf_counter()
    token_ids = tokenize(texts)
    print(f"tokenizing on {cores()} cores: {len(texts) / (time.perf_counter() - start):,.0f} texts/s")
    return Sample(
        origin=origin,
        texts=texts,
        token_ids=token_ids,
        questions=tokenize(questions),
        relevant=relevant,
    )


def read_set(home: Path, *, count: int) -> tuple[list[str], list[str], list[set[int]]]:
    """Return passages, questions and relevant passages of a BEIR folder."""
    rows = [json.loads(line) for line in (home / "corpus.jsonl").open(encoding="utf-8")][:count]
    number = {row["_id"]: place for place, row in enumerate(rows)}
    texts = [f"{row.get('title', '')}\n{row['text']}".strip() for row in rows]
    asked = {row["_id"]: row["text"] for row in map(json.loads, (home / "queries.jsonl").open(encoding="utf-8"))}
    relevant: dict[str, set[int]] = {}
    for path in sorted((home / "qrels").glob("*.tsv")):
        for line in path.read_text("utf-8").splitlines()[1:]:
            query, passage, score = line.split("\t")
            if int(score) > 0 and passage in number and query in asked:
                relevant.setdefault(query, set()).add(number[passage])
    chosen = sorted(relevant)[:QUERIES]
    return texts, [asked[query] for query in chosen], [relevant[query] for query in chosen]


def generate_texts(count: int) -> tuple[list[str], list[str], list[set[int]]]:
    """Return passages of invented sentences, and for some of them their first sentence as question."""
    draw = random.Random(7)
    syllables = ["ka", "lor", "men", "tis", "ra", "vel", "du", "shan", "pi", "gor", "ne", "ul", "est", "bri", "mo"]
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(8000)]
    frequent = ["the", "of", "and", "in", "a", "to", "was", "is", "by", "for", "with", "from"]

    def sentence() -> str:
        parts = [draw.choice(frequent if draw.random() < 0.45 else words) for _ in range(draw.randint(7, 22))]
        return " ".join(parts).capitalize() + "."

    texts = [" ".join(sentence() for _ in range(draw.choice((1, 2, 3, 3, 4, 6, 9)))) for _ in range(count)]
    chosen = range(0, count, max(1, count // QUERIES))
    return texts, [texts[number].split(".")[0] for number in chosen], [{number} for number in chosen]


def open_tokenizer(folder: Path) -> Callable[[Sequence[str]], list[list[int]]]:
    """Return the model's tokenizer, or one of the same lengths with random ids if `tokenizers` is missing."""
    if find_spec("tokenizers") is None:
        print("tokenizers is missing: token ids are derived from hashes of words, so recall says little")
        return lambda texts: [hash_words(text) for text in texts]
    from weft.models.local.text_tokenizer import TextTokenizer

    return TextTokenizer((folder / "tokenizer.json").read_bytes(), max_tokens=MODEL.max_tokens).encode_all


def hash_words(text: str) -> list[int]:
    """Return ids as many as granite has tokens in English: 1.3 per word."""
    ids = [random.Random(word).randrange(1000, 50_000) for word in text.split() for _ in range(1 + (len(word) > 8))]
    return [0, *ids[: MODEL.max_tokens - 2], 2]


# ── the model alone ─────────────────────────────────────────────────────────────────────────────


def make_graphs(graph: bytes) -> dict[str, bytes]:
    """Return the installed graph, and the float32 one with its weights."""
    from weft.models.local.onnx_graph import make_float_graph

    return {"installed": graph, "float32": make_float_graph(graph, architecture=MODEL.architecture)}


def profile_operators(graph: bytes) -> None:
    """Print the milliseconds of each operator for a text of 110 tokens on one thread: the sum of the lowest times."""
    import onnxruntime

    for name, data in make_graphs(graph).items():
        with tempfile.TemporaryDirectory() as work:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.enable_profiling, options.profile_file_prefix = True, f"{work}/profile"
            session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
            token_ids = np.arange(1000, 1110)[None]
            for _ in range(20):
                session.run(None, {"input_ids": token_ids})
            events = json.loads(Path(session.end_profiling()).read_text())
        lowest: dict[tuple[str, str], int] = {}
        for event in events:
            if event["name"].endswith("kernel_time"):
                key = event["args"]["op_name"], event["name"]
                lowest[key] = min(lowest.get(key, event["dur"]), event["dur"])
        totals: dict[str, int] = {}
        for (operator, _), duration in lowest.items():
            totals[operator] = totals.get(operator, 0) + duration
        ordered = sorted(totals.items(), key=lambda item: -item[1])[:7]
        print(f"{name}: {sum(totals.values()) / 1000:.1f} ms;", ", ".join(f"{op} {t / 1000:.1f}" for op, t in ordered))


def measure_cpu(graph: bytes, sample: Sample, *, count: int) -> None:
    """Print texts/s of onnxruntime by graph and threads, and the distances between the vectors."""
    from weft.models.local.onnx_session import OnnxSession

    ids = sample.token_ids[:count]
    graphs = make_graphs(graph)
    vectors = {}
    for name, data in graphs.items():
        session = OnnxSession(data)
        for threads in sorted({1, cores()}):
            with ThreadPoolExecutor(threads) as pool:
                vectors[name] = report(
                    f"onnxruntime {name}, {threads} threads",
                    lambda pool=pool, session=session: np.stack(list(pool.map(session.encode, ids))),
                    len(ids),
                    repeats=CPU_REPEATS,
                )
    for name in graphs:
        print(f"    cosine distance {name} to float32: {distances(vectors[name], vectors['float32'])}")


def measure_openvino(installed: bytes, sample: Sample, *, count: int) -> None:
    """Print texts/s of OpenVINO with the float32 graph, one text per thread, and the distance of its vectors."""
    if find_spec("openvino") is None:
        print("openvino is missing: OpenVINO was not measured")
        return
    openvino: Any = __import__("openvino")
    from weft.models.local.onnx_session import OnnxSession

    graph = make_graphs(installed)["float32"]
    ids = [np.array([token_ids]) for token_ids in sample.token_ids[:count]]
    expected = np.stack([OnnxSession(graph).encode(token_ids) for token_ids in sample.token_ids[:count]])
    core = openvino.Core()
    model = core.read_model(graph)
    for precision in ("f32", "bf16"):
        for threads in sorted({1, cores()}):
            streams = {"NUM_STREAMS": threads, "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": precision}
            compiled = core.compile_model(model, "CPU", streams)
            vectors = np.empty_like(expected)

            def keep(request: Any, number: int, vectors: Any = vectors) -> None:
                vectors[number] = request.get_output_tensor().data[0]

            queue = openvino.AsyncInferQueue(compiled, threads)
            queue.set_callback(keep)

            def run(queue: Any = queue) -> None:
                for number, token_ids in enumerate(ids):
                    queue.start_async([token_ids], number)
                queue.wait_all()

            report(f"openvino {precision}, {threads} threads", run, len(ids), repeats=CPU_REPEATS)
        print(f"    cosine distance openvino {precision} to float32: {distances(vectors, expected)}")


def measure_torch_on_cpu(encoder: Encoder, sample: Sample, *, count: int) -> None:
    """Print texts/s of PyTorch on the CPU in float32, alone and in batches of similar length."""
    if find_spec("torch") is None:
        print("torch is missing: PyTorch was not measured")
        return
    from weft.models.local.gpu.torch_encoder import TorchEncoder

    ids = sample.token_ids[:count]
    model = TorchEncoder(encoder, architecture=MODEL.architecture, device="cpu")
    torch: Any = __import__("torch")
    for threads in sorted({1, cores()}):
        torch.set_num_threads(threads)
        for tokens in (1, model._tokens_per_batch):
            model._tokens_per_batch = tokens
            name = (
                f"torch cpu float32, {threads} threads, batches of {'one text' if tokens == 1 else f'{tokens} tokens'}"
            )
            report(name, lambda: model.encode(ids), len(ids), repeats=CPU_REPEATS)
        model._tokens_per_batch = 2048


def measure_device(encoder: Encoder, sample: Sample, *, device: str, count: int) -> Any:
    """Print texts/s of PyTorch on the device; return the encoder, None without one."""
    from weft.models.local.gpu.torch_encoder import TorchEncoder

    try:
        model = TorchEncoder(encoder, architecture=MODEL.architecture, device=device)
    except WeftError as error:
        print(f"{device}: {error}; {error.hint}")
        return None
    torch: Any = __import__("torch")
    if device.startswith("cuda"):
        print(f"device: {torch.cuda.get_device_name()}, CUDA {torch.version.cuda}")
    for size in (*(size for size in (64, 256, 1024, 4096) if size < count), count):
        ids = (sample.token_ids * (size // len(sample.token_ids) + 1))[:size]
        model.encode(ids)
        report(f"torch {device}, calls of {size}", lambda ids=ids: model.encode(ids), size, repeats=GPU_REPEATS)
    tokens = sum(map(len, ids))
    seconds = timed(lambda: model.encode(ids))
    work = tokens * flop_per_token(MODEL, encoder) / seconds / 1e12
    print(f"    {tokens / seconds:,.0f} tokens/s without padding, {work:.1f} TFLOP/s in matrices")
    report_padding(model, ids)
    return model


def report_padding(model: Any, ids: list[list[int]]) -> None:
    """Print the share of padding, and the rate at which the CPU can form batches."""
    start = time.perf_counter()
    batches = length_batches([len(text) for text in ids], max_tokens=model._tokens_per_batch)
    for batch in batches:
        np.concatenate([ids[number] for number in batch])
    seconds = time.perf_counter() - start
    padded = sum(len(ids[batch[0]]) * len(batch) for batch in batches) / sum(map(len, ids)) - 1
    print(f"    sorting and joining on the CPU: {len(ids) / seconds:,.0f} texts/s; padding {padded:.0%}")


def flop_per_token(model: LocalModel, encoder: Encoder) -> float:
    """Return the operations of the matrices for one token; the last layer of CLS pooling needs keys and values only."""
    per_layer = [
        2 * sum(part.weight.size for part in (layer.attention_in, layer.attention_out, layer.feed_in, layer.feed_out))
        for layer in encoder.layers
    ]
    if model.architecture.pooling == "cls":
        per_layer[-1] = 2 * encoder.layers[-1].attention_in.weight.size
    return float(sum(per_layer))


def report(name: str, run: Callable[[], Any], count: int, *, repeats: int) -> Any:
    """Print the median rate of a run and its spread; return its last result."""
    rates, work = [], []
    for _ in range(repeats):
        start, used = time.perf_counter(), time.process_time()
        result = run()
        rates.append(count / (time.perf_counter() - start))
        work.append(count / (time.process_time() - used))
    print(f"{name}: {summary(rates)} texts/s, {summary(work)} per second of CPU time", flush=True)
    return result


def summary(values: list[float]) -> str:
    """Return the median, and the lowest and highest value."""
    digits = 1 if min(values) < 100 else 0
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def timed(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


# ── equality ────────────────────────────────────────────────────────────────────────────────────


def compare(graph: bytes, sample: Sample, model: Any) -> None:
    """Print the distance between the vectors of the CPU and the device, and recall@10 of the questions by either."""
    from weft.models.local.onnx_session import OnnxSession

    there = model.encode(sample.token_ids)
    session = OnnxSession(graph)
    with ThreadPoolExecutor(cores()) as pool:
        questions = np.stack(list(pool.map(session.encode, sample.questions)))
        here = np.stack(list(pool.map(session.encode, sample.token_ids)))
    print(f"cosine distance CPU to device: {distances(here, there)}")
    first, second = find_nearest(questions, here), find_nearest(questions, there)
    shared = statistics.mean(len(set(a) & set(b)) / 10 for a, b in zip(first, second, strict=True))
    print(
        f"recall@10 of {len(questions)} questions on {len(here)} passages: CPU {recall(first, sample.relevant):.4f},"
        f" device {recall(second, sample.relevant):.4f}; {shared:.1%} of the first ten are the same"
    )


def find_nearest(questions: Any, passages: Any) -> list[list[int]]:
    scores = questions @ passages.T
    return [list(map(int, row[:10])) for row in np.argsort(-scores, axis=1, kind="stable")]


def recall(found: list[list[int]], relevant: list[set[int]]) -> float:
    return statistics.mean(len(set(row) & wanted) / len(wanted) for row, wanted in zip(found, relevant, strict=True))


def distances(first: Any, second: Any) -> str:
    values = 1 - (first * second).sum(axis=1)
    return f"mean {values.mean():.1e}, maximum {values.max():.1e}"


if __name__ == "__main__":
    main()
