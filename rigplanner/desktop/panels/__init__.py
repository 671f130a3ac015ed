"""What stands around the tabs?"""
