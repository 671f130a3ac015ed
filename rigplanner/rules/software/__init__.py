"""Does the software run on them?"""
