"""What does a map of cards look like on paper, in a table, in a picture?"""
