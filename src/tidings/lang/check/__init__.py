"""What is wrong, or probably not meant, in a set of subscriptions."""

from tidings.lang.check.checker import check
from tidings.lang.check.problems import Problem, Severity, problem_of

__all__ = ["Problem", "Severity", "check", "problem_of"]
