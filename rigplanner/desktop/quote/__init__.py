"""The Quote tab."""
