"""No text makes a regular expression of the package slow, however long it is."""

from __future__ import annotations

from functools import partial

from support.pumping import Expression, expressions, inputs, pumped, seconds_of

_LETTERS, _SECONDS = 5_000, 0.02


def _slowest(expression: Expression) -> str | None:
    """The begin of a text for which an expression is slow; None where there is none."""
    for method in expression.methods:
        apply = getattr(expression.pattern, method)
        for text in inputs(expression, pumped(expression.pattern, _LETTERS)):
            # a busy machine is slow once; what is quadratic is slow each time
            if all(seconds_of(partial(apply, text)) > _SECONDS for _ in range(3)):
                return f"{expression.place}: {text[:40]!r}"
    return None


def test_no_expression_is_slow() -> None:
    found = expressions()
    # all modules were seen, and what they hold
    assert len(found) > 150
    assert not list(filter(None, map(_slowest, found)))
