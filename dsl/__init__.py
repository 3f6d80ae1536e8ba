"""The expression language of rules: text -> tree -> checked -> closure. Knows text and types, nothing of failures.

node = parse('status == 403 and text has any @quota')
problems = check(node, environment, lists, Type.BOOL)
test = compile(node, environment, lists)
test(subject)
"""

from . import path
from .check import check
from .clock import Clock, is_zone
from .compile import compile
from .duration import duration, shown, spell
from .errors import DslError
from .fold import fold
from .format import source
from .needs import Needs, needs
from .nodes import Node, Span, conjuncts, markers
from .parser import parse
from .types import Environment, Field, Keyed, Type

__all__ = [
    "Clock",
    "DslError",
    "Environment",
    "Field",
    "Keyed",
    "Needs",
    "Node",
    "Span",
    "Type",
    "check",
    "compile",
    "conjuncts",
    "duration",
    "fold",
    "is_zone",
    "markers",
    "needs",
    "parse",
    "path",
    "shown",
    "source",
    "spell",
]
