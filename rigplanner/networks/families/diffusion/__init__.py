"""Which operators does a denoiser run?"""
