"""What do people see? Qt lives here and nowhere else."""
