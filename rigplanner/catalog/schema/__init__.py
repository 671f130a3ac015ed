"""Which fields has a part?"""
