"""Which operators does a decoder-only language model run?"""
