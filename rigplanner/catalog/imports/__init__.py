"""What do other people's data say?"""
