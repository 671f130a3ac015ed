"""Units that are not metric."""

GIB = 2.0**30
"""Bytes of a GiB."""
