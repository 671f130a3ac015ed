"""Help: what does this field, column or letter mean, and where does a newcomer begin?"""
