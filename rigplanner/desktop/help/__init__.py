"""What does this field, column or letter mean?"""
