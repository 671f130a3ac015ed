"""What a command may end with."""

FINE, FINDINGS, BAD_INPUT = 0, 1, 2


class InputFault(Exception):
    """Bad input from the user: the text is one sentence that says which file, which field, what to do."""
