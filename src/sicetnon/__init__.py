"""Sic et Non: strong arguments for and against a controversial question, offline.

Everything that people need is imported from here, and loaded when it is first used:

    import sicetnon

    index = sicetnon.Index.build(["Tenure protects academic freedom.", "Tenure costs money."])
    for answer in index.search("Should teachers get tenure?", k=5):
        print(answer.rank, answer.id, answer.snippet.text)
"""

from typing import Any

from sicetnon._version import VERSION

__version__ = VERSION


def __getattr__(name: str) -> Any:
    # the names and their homes stand in __init__.pyi, where type checkers find them too; commands
    # need none of them, and start without reading it
    import lazy_loader

    attach, _, names = lazy_loader.attach_stub(__name__, __file__)
    return names if name == "__all__" else attach(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
