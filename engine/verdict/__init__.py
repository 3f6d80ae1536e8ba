"""From a failure and a policy to one verdict."""
