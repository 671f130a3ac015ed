"""What each program says of a machine, read into facts: one module per subject, nothing judged."""
