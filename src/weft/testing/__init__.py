"""Fakes for tests, and the contracts that stores and embedders of other packages can run (these import pytest)."""

from __future__ import annotations

from weft.testing.fakes import FakeEmbedder, FakeReranker

__all__ = ["FakeEmbedder", "FakeReranker"]
