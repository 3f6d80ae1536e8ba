"""From bytes to what they say: decoding, envelopes, events, stated times."""
