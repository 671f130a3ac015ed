"""What do scripts see?"""
