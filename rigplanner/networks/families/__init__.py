"""Which operators does a network of this family run?"""
