"""The page Judge in a browser: what it shows, asks for, and keeps on the device."""

from __future__ import annotations

from typing import Any

from support.browser import expect


def document(page: Any) -> str:
    """Number, topic and id of the document on the page."""
    card = page.locator(".judged")
    title, name = card.locator("h1").inner_text(), card.locator(".text code").inner_text()
    return f"{card.get_attribute('data-item')} {title} {name}"


def expect_document(page: Any, wanted: str) -> None:
    """Wait until the page shows a document."""
    expect(page.locator(".judged")).to_have_attribute("data-item", wanted.split()[0])
    assert document(page) == wanted


def another(page: Any, before: str) -> str:
    """The document that follows another one, once the page shows it."""
    card = page.locator(".judged")
    expect(card).not_to_have_attribute("data-item", before.split()[0])
    assert document(page).partition(" ")[2] != before.partition(" ")[2]
    return document(page)


def judge(page: Any, first: str, second: str) -> str:
    """Judge the document on the page with two keys, and wait until it has gone; gives it."""
    judged = document(page)
    for each in (first, second):
        page.keyboard.press(each)
    expect(page.locator(f'.judged[data-item="{judged.split()[0]}"]')).to_have_count(0)
    return judged


def asks_for(page: Any, dimension: str) -> None:
    """Wait until the page asks for a label."""
    now = page.locator(".step.now")
    expect(now).to_have_attribute("data-dimension", dimension)
    expect(now).to_have_attribute("aria-current", "step")


def waits_until_saved(page: Any) -> None:
    """Wait until nothing of what was done waits on the device."""
    page.wait_for_function(
        "() => {"
        "  const names = Object.keys(localStorage).filter(name => /(anna|bert)$/.test(name));"
        "  return names.length && names.every(name => localStorage[name] === '[]');"
        "}"
    )
