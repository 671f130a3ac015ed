"""What does each verb of the catalog do?"""
