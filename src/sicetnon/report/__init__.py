"""A report of scores: one HTML page that needs nothing but itself."""

from sicetnon.report.page import script_of, sections_of, style_of, write_report

__all__ = ["script_of", "sections_of", "style_of", "write_report"]
