"""A report of scores: one HTML page that needs nothing but itself."""

from sicetnon.report.page import write_report

__all__ = ["write_report"]
