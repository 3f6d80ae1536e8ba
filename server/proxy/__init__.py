"""The thin proxy: it forwards bytes and asks the engine before every fallback."""
