"""Do the parts work together?"""
