"""What does a part cost, where and when?"""
