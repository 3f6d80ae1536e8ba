"""In which order targets are tried, and what is known about them for it."""
