"""Sic et Non: strong arguments for and against a controversial question, offline.

Everything that people need is imported from here, and loaded when it is first used:

    import sicetnon

    index = sicetnon.Index.build(["Tenure protects academic freedom.", "Tenure costs money."])
    for answer in index.search("Should teachers get tenure?", k=5):
        print(answer.rank, answer.id, answer.snippet.text)
"""

import lazy_loader

from sicetnon._version import VERSION

__version__ = VERSION

# the names and their homes stand in __init__.pyi, where type checkers find them too
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
