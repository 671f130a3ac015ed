"""What is told when something that was asked for cannot be expressed or computed."""


class WorkloadFault(ValueError):
    """A workload that cannot be expressed or computed; the text says which field, what was expected
    and found."""


class TooLarge(ValueError):
    """A rig of more pieces than are judged as one machine; the text says how many."""
