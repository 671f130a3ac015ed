"""Is the catalog plausible?"""
