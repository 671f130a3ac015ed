"""What was chosen?"""
