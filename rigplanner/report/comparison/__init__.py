"""Which rig is better, shown: the comparison's content, and the same as PDF, workbook and text."""
