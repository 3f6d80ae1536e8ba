"""Compiled closures give what the definition of the language gives."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from faultwise.dsl import Type, check, compile, fold, needs, parse, source
from faultwise.dsl.nodes import Exists, Node

from . import programs
from .reference import evaluate
from .world import ENVIRONMENT, LISTS, Subject

bounded = settings(
    max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)


@bounded
@given(programs.conditions(), programs.subjects)
def test_a_compiled_condition_equals_the_reference(node: Node, subject: Subject) -> None:
    assert check(node, ENVIRONMENT, LISTS, Type.BOOL) == ()
    got = compile(node, ENVIRONMENT, LISTS)(subject)
    assert isinstance(got, bool)
    assert got == bool(evaluate(node, subject, LISTS)), source(node)


@bounded
@given(programs.durations, programs.subjects)
def test_a_compiled_duration_equals_the_reference(node: Node, subject: Subject) -> None:
    assert check(node, ENVIRONMENT, LISTS, Type.DURATION) == ()
    got = compile(node, ENVIRONMENT, LISTS)(subject)
    assert got is None or isinstance(got, float)
    assert got == evaluate(node, subject, LISTS), source(node)


def test_what_is_not_a_number_equals_nothing() -> None:
    subject = {"json": {"a": float("nan")}}
    for text, value in (
        ('json["a"] == json["a"]', False),
        ('json["a"] != json["a"]', True),
        ('json["a"] in [1]', False),
    ):
        node = parse(text)
        assert compile(node, ENVIRONMENT, LISTS)(subject) is value
        assert evaluate(node, subject, LISTS) is value


def test_a_number_without_end_is_taken_in_stride() -> None:
    subject = {"json": {"a": 10**400, "b": float("inf")}}
    for text in ('json["a"] > 1.5', 'json["b"] > 1.5', 'json["a"] != 1.5', 'not seconds(json["a"]) exists'):
        assert compile(parse(text), ENVIRONMENT, LISTS)(subject) is True


@settings(bounded, max_examples=300)
@given(programs.conditions(), programs.subjects)
def test_a_true_condition_has_one_of_the_things_it_needs(node: Node, subject: Subject) -> None:
    texts = [subject.get("text") or "", *(subject.get("message") or ()), *subject.get("code", ())]
    subject = {**subject, "text": " ".join(texts)}
    wanted = needs(node, ("text", "message", "code"), ("header", "json", "stated", "model", "status"), LISTS)
    if wanted is not None and compile(node, ENVIRONMENT, LISTS)(subject):
        text = "\n".join(map(fold, (subject["text"], *texts)))
        there = any(compile(Exists(value), ENVIRONMENT, LISTS)(subject) for value in wanted.values)
        assert there or any(marker in text for marker in wanted.markers), source(node)
