"""Validation of runs by the rules of their task."""

from sicetnon.validation.rules import Finding
from sicetnon.validation.validator import Validation, validate

__all__ = ["Finding", "Validation", "validate"]
