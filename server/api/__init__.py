"""The decision service and the operator's view."""
