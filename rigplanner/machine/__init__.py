"""What does it become?"""
