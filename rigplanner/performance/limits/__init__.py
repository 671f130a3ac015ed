"""What holds the GPUs back?"""
