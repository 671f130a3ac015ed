"""The Start tab."""
