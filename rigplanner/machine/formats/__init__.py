"""What other programs write of a machine, read; and what they read, written."""
