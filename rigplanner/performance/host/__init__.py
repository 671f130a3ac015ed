"""How fast is what stays in the computer's memory? Tokens and prompts of language models of which
CPUs, RAM and drives do a part."""
