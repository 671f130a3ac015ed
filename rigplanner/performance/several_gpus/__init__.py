"""What does a second GPU bring?"""
