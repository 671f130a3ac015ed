"""Which parts does a text name?"""
