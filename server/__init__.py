"""The outer world: proxy, decision service, command line, reload."""
