"""What is a rule, a finding, and what does a rule see?"""
