"""Which operators do detectors and segmenters add to a backbone?"""
