"""Which small views is the window made of?"""
