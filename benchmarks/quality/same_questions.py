"""
How close two questions are that ask the same, and two that only ask about the same thing: `ModelCard.same`.

    python benchmarks/quality/same_questions.py local/granite-30m

Prints the cosines of both kinds and, for some thresholds, the share of each that the cache of recalls would answer.
"""

from __future__ import annotations

import sys

import numpy as np

from weft.config import read_settings
from weft.engine.adapters import open_embedder

SAME = [
    ("What is JACQ?", "what's JACQ"),
    ("What is JACQ?", "What is JACQ, please?"),
    ("What is JACQ?", "Tell me what JACQ is"),
    ("what do I prefer?", "What do I prefer"),
    ("what do I prefer?", "what is it that I prefer?"),
    ("Which database does the JACQ Project use?", "Which database is used by the JACQ Project?"),
    ("Which database does the JACQ Project use?", "What database does the JACQ project use?"),
    ("Which database does the JACQ Project use?", "Which databse does the JACQ Project use?"),
    ("Where does the billing service run?", "Where is the billing service running?"),
    ("Where does the billing service run?", "where does the billing-service run"),
    ("Who owns the rate limiter?", "Who is the owner of the rate limiter?"),
    ("Who owns the rate limiter?", "who owns the rate limiter right now?"),
    ("Who owns the rate limiter?", "Who ownes the rate limiter?"),
    ("When is the next release of the mobile app?", "When's the next mobile app release?"),
    ("When is the next release of the mobile app?", "When will the mobile app be released next?"),
    ("How do we rotate the signing keys?", "How are the signing keys rotated?"),
    ("How do we rotate the signing keys?", "how do we rotate signing keys"),
    ("What does the auth service depend on?", "What are the dependencies of the auth service?"),
    ("What does the auth service depend on?", "What does auth service depend on"),
    ("Which language does the user like best?", "Which language does the user like most?"),
    ("Do I have any allergies?", "Do I have allergies?"),
    ("Do I have any allergies?", "Have I any allergies?"),
    ("What time zone am I in?", "Which time zone am I in?"),
    ("What time zone am I in?", "what timezone am I in?"),
    ("Why was the cache of the search page removed?", "Why did we remove the cache of the search page?"),
    ("Is DuckDB an embedded database?", "is duckdb an embedded database"),
    ("What did we decide about the date format?", "What was decided about the date format?"),
    ("List the services of the payments team", "List all services of the payments team"),
    ("What are the working hours of the support desk?", "What are the support desk's working hours?"),
    ("How large is the image cluster?", "How big is the image cluster?"),
]
"""Pairs to which the same answer is due."""

RELATED = [
    ("What is JACQ?", "Who works on JACQ?"),
    ("What is JACQ?", "Why is it called JACQ?"),
    ("What is JACQ?", "When did JACQ start?"),
    ("what do I prefer?", "what do I avoid?"),
    ("what do I prefer?", "what do I own?"),
    ("Which database does the JACQ Project use?", "Which database did the JACQ Project use before?"),
    ("Which database does the JACQ Project use?", "Which framework does the JACQ Project use?"),
    ("Which database does the JACQ Project use?", "Who chose the database of the JACQ Project?"),
    ("Where does the billing service run?", "When does the billing service run?"),
    ("Where does the billing service run?", "Who runs the billing service?"),
    ("Who owns the rate limiter?", "Who wrote the rate limiter?"),
    ("Who owns the rate limiter?", "What does the rate limiter limit?"),
    ("Who owns the rate limiter?", "Who owned the rate limiter before?"),
    ("When is the next release of the mobile app?", "When was the last release of the mobile app?"),
    ("When is the next release of the mobile app?", "What is in the next release of the mobile app?"),
    ("How do we rotate the signing keys?", "How often do we rotate the signing keys?"),
    ("How do we rotate the signing keys?", "Who rotates the signing keys?"),
    ("What does the auth service depend on?", "What depends on the auth service?"),
    ("What does the auth service depend on?", "What does the auth service log?"),
    ("Which language does the user like best?", "Which language does the user like least?"),
    ("Do I have any allergies?", "Do I have any appointments?"),
    ("Do I have any allergies?", "Do I have any pets?"),
    ("What time zone am I in?", "What city am I in?"),
    ("Why was the cache of the search page removed?", "When was the cache of the search page removed?"),
    ("Is DuckDB an embedded database?", "Is DuckDB a columnar database?"),
    ("What did we decide about the date format?", "What did we decide about the number format?"),
    ("List the services of the payments team", "List the members of the payments team"),
    ("What are the working hours of the support desk?", "What is the phone number of the support desk?"),
    ("How large is the image cluster?", "How old is the image cluster?"),
    ("What was said in ticket 4711?", "What was said in ticket 4712?"),
    ("What changed in version 2.3?", "What changed in version 2.4?"),
    ("Which meetings do I have on Monday?", "Which meetings do I have on Tuesday?"),
]
"""Pairs that name the same things and ask for something else."""

THRESHOLDS = (0.90, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99)


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "local/granite-30m"
    embedder = open_embedder(read_settings({}), name=name)
    assert embedder is not None
    cosines = {}
    for kind, pairs in (("same", SAME), ("related", RELATED)):
        first, second = (embedder.embed([pair[side] for pair in pairs], kind="query") for side in (0, 1))
        cosines[kind] = np.sort((first * second).sum(axis=1))
        print(f"{kind}: {len(pairs)} pairs, median {np.median(cosines[kind]):.3f}, "
              f"{cosines[kind][0]:.3f} to {cosines[kind][-1]:.3f}")  # fmt: skip
        if "-v" in sys.argv:
            for value, pair in sorted(zip((first * second).sum(axis=1), pairs, strict=True), reverse=True):
                print(f"  {value:.3f}  {pair[0]} | {pair[1]}")
    for least in THRESHOLDS:
        shares = ", ".join(f"{(values >= least).mean():.0%} of {kind}" for kind, values in cosines.items())
        print(f"from {least:.2f}: {shares}")


if __name__ == "__main__":
    main()
