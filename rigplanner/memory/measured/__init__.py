"""How right is it, against measurements?"""
