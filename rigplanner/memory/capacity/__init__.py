"""How much more does it hold, and what would make it fit?"""
