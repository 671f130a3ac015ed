"""Which operators does a network of sound run?"""
