"""What does it draw, and from which plug?"""
