"""Which operators does a network of images and text run?"""
