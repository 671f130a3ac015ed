"""What leaves the house?"""
