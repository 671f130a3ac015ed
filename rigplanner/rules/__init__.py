"""Does it work?"""
