"""How fast: the engine beside other libraries, the learner beside a free environment. Nothing imports this."""
