"""Which operators does an encoder, or an encoder with a decoder, run?"""
