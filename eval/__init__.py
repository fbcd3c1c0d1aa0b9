"""How well agents play: duplicate deals, every seating, intervals. Write ``from eval.arena import …``."""
