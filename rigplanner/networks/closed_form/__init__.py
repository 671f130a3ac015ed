"""What is live at the peak, as a formula in batch and length?"""
