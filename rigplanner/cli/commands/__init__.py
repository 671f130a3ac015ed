"""What does each command print?"""
