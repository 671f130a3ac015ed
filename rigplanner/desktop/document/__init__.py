"""What is open, and what happens to it?"""
