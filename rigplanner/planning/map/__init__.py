"""Which card for this work, and which work for this machine?"""
