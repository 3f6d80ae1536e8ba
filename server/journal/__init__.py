"""The decision log: what failed, what was decided and what came of it; redacted, bounded, written behind."""
