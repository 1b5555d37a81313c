"""A report of scores: an HTML page in one file."""

from sicetnon.report.page import script_of, sections_of, style_of, write_report

__all__ = ["script_of", "sections_of", "style_of", "write_report"]
