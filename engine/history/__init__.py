"""Recorded failures: read them, decide them again, compare, and see which ones no rule knows."""
