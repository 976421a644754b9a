"""The offline demo model: a small set of rules that plays the part of a model."""

from project.demo_model.provider import DemoProvider

__all__ = ["DemoProvider"]
