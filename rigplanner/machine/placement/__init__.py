"""Which piece goes where?"""
