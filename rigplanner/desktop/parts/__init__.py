"""The build list and the catalog table."""
