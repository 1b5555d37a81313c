"""The side of a text towards a question: FOR, AGAINST, BOTH or NONE.

A corpus knows the side that a premise takes towards its own conclusion, if any. The side of the
conclusion towards the question, and of a text whose own stance is not known, is judged.
"""
