"""What does the customer get? The quote's content, and the same as PDF, workbook and text."""
