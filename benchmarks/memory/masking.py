"""
Share of synthetic secrets that are masked, and speed.

    python benchmarks/memory/masking.py                the secrets of the generator
    python benchmarks/memory/masking.py FOLDER …       also every text file below these folders
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[2] / name) for name in ("benchmarks", "tests/masking"))

from harness import make_parser
from secret_formats import FORMATS, GROUPS, VALUES, Sample, iter_samples

from weft.masking.mask import find_secrets, mask_secrets


def is_masked(sample: Sample) -> bool:
    """Return True if nothing but the value is replaced."""
    found = mask_secrets(sample.line)
    inner = found[len(sample.before) : len(found) - len(sample.after)].strip()
    is_kept = found.startswith(sample.before) and found.endswith(sample.after)
    return is_kept and inner.startswith("[a") and inner.endswith("]") and sample.secret not in found


def report_formats() -> None:
    """Print the share of every group as a table, and its formats with the lowest shares."""
    shares = {name: sum(map(is_masked, iter_samples(name))) / VALUES for name in FORMATS}
    print("| group | formats | masked | lowest |\n| --- | --- | --- | --- |")
    for group, names in GROUPS.items():
        least = sorted((shares[name], name) for name in names if shares[name] < 1)[:2]
        lowest = ", ".join(f"{name} {share:.1%}" for share, name in least) or "100 %"
        print(f"| {group} | {len(names)} | {sum(map(shares.__getitem__, names)) / len(names):.2%} | {lowest} |")
    print(f"| all, {VALUES} values each | {len(FORMATS)} | {sum(shares.values()) / len(shares):.2%} | |")


def report_folder(folder: Path) -> None:
    """Print the secrets found in the texts of a folder, and the rate."""
    lines = characters = found = 0
    start = time.process_time()
    for text in _iter_texts(folder):
        lines, characters = lines + text.count("\n"), characters + len(text)
        found += len(find_secrets(text))
    seconds = time.process_time() - start
    print(f"{folder.name}: {lines:,} lines, {found} found ({found / max(lines, 1):.4%}), ", end="")
    print(f"{characters / 1e6 / seconds:.1f} million characters per second")


def _iter_texts(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        try:
            if path.is_file():
                yield path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            continue


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("folders", type=Path, nargs="*")
    given = parser.parse_args()
    report_formats()
    for folder in given.folders:
        report_folder(folder)
