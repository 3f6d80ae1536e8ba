"""Findings about rules that are well formed and still wrong, useless or risky: one module a check, one page a code."""

from .lint import CHECKS, lint

__all__ = ["CHECKS", "lint"]
