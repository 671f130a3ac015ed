"""The Machine tab."""
