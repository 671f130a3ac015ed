"""Which operators does a network of images run?"""
