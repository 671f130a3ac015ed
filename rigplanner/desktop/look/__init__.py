"""Which colours, sizes and icons?"""
