"""All rules: importing the topics registers them."""

from rigplanner.rules import memory, processor, slots
from rigplanner.rules.registry import RULES, Rule

TOPICS = (processor, memory, slots)
"""The rule modules in the order in which a person builds."""

RULES_BY_CODE: dict[str, Rule] = dict(sorted(RULES.items()))
