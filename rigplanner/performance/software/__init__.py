"""What does software run: stacks, and how ready each is for a format on a chip?"""
