"""Which arithmetic and traffic has a network?"""
