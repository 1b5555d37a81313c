"""The harness that kills, damages and deceives the program, and counts what it loses.

python -m tests.robustness                          # all checks, an hour or two
python -m tests.robustness kills --trials 100       # one check
python -m tests.robustness --only questions --seed 7 # one trial again, with its stack trace
"""
