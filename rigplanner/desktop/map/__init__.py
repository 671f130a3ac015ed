"""Which card for my work, and which models for this machine?"""
