"""What must it do?"""
