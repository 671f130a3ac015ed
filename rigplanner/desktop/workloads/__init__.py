"""The Workloads tab."""
