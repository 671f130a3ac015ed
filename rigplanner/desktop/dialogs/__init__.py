"""Dialogs, each loaded when it is asked for."""
