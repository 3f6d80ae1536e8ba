"""Faultwise tells the truth about upstream LLM failures, and acts on it."""

__version__ = "0.1.0"
