"""What does a configuration say?"""
