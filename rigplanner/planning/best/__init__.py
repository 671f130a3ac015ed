"""Which rig is the best for this work and this money, and how is that known?"""
