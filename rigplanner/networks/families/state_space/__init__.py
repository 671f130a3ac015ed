"""Which operators does a network with a state or a scan run?"""
