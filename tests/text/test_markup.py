"""Markup taken out of texts."""

from __future__ import annotations

from sicetnon.text.markup import without_markup


class TestMarkup:
    def test_plain_text_stays(self) -> None:
        text = "a < b, c > d & e &amp; <3\n\n  two"
        assert without_markup(text) == text

    def test_tags_go_and_blocks_are_lines(self) -> None:
        text = (
            "<head><title>t</title></head><p>One <b>two</b>&amp;three<br>four<script>x<y</script>"
        )
        assert without_markup(text) == "One two&three\nfour"
