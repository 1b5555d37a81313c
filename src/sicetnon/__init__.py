"""Sic et Non: strong arguments for and against a controversial question, offline.

The rooms, from the ground up: `records`, `formats`, `text`, `index`, `retrieval`, `tasks`.
"""

from sicetnon._version import VERSION

__version__ = VERSION

__all__ = ["__version__"]
