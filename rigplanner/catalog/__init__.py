"""What can be bought?"""
