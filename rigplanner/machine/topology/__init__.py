"""What lies between two devices?"""
