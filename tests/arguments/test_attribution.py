"""Whose view a sentence gives."""

from __future__ import annotations

import pytest

from sicetnon.arguments.attribution import doubts


@pytest.mark.parametrize(
    "text",
    [
        "People keep saying tenured teachers can't be fired.",
        "The usual defence is that zoos teach and entertain us.",
        "Critics of zoos often claim that animals suffer there.",
        "It is sometimes argued that homework builds character.",
        "My opponent says that tenure protects bad teachers.",
        "Some people think that uniforms prevent bullying.",
        "They say it is cheap.",
    ],
)
def test_views_of_others_are_surely_not_the_authors(text: str) -> None:
    assert doubts([text]) == [1.0]


@pytest.mark.parametrize(
    ("text", "following"),
    [
        ("Zoos teach children about animals.", "That's just not true."),
        ("Bad zoos should be shut.", "But to close all of them would burn down the lifeboats."),
        ("A teacher could be sacked for marrying.", "Those abuses were real, and sad."),
        ("Admittedly, uniforms are cheap.", "What matters is freedom."),
        ("Tenure was introduced at a time of abuse.", "The law has changed since."),
        ("I have been a teacher for twenty years.", "I gave homework for most of them."),
    ],
)
def test_what_is_refuted_granted_or_told_before_is_doubtful(text: str, following: str) -> None:
    assert 0 < doubts([text, following])[0] < 1


@pytest.mark.parametrize(
    "text",
    [
        "Zoos keep animals in cages that are too small for them.",
        "People who claim that zoos teach forget that films teach more.",
        "The idea that homework helps is wrong.",
        "Uniforms say nothing about who is rich, and that stops bullying.",
        "",
    ],
)
def test_the_authors_own_view_is_not_doubted(text: str) -> None:
    assert doubts([text, "They also cost money."])[0] == 0
