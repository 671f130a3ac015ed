"""Which rig is better?"""
