"""Which part or network does a name mean?"""
