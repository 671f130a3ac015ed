"""What does a network do?"""
