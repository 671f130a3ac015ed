"""Does it fit?"""
