"""`faultwise test`: do the rules do what their cases say, do the cases hold the rules, and how right is the whole?"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

from faultwise.engine.cases import CaseResult, run_cases
from faultwise.engine.client_cases import run_client_cases
from faultwise.engine.history.log import read
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import Sources
from faultwise.engine.problem import PolicyError, Problem
from faultwise.engine.trial.coverage import STATES, Coverage, cover
from faultwise.engine.trial.mutants import Mutant, mutants
from faultwise.engine.trial.score import Score, labels, score
from faultwise.engine.trial.trials import Trials
from faultwise.engine.verdict.decide import decide

from . import FINDINGS, FINE, USAGE
from .output import FORMATS, report
from .pool import spread
from .progress import Progress
from .sources import compiled, source_arguments, sources

PART = 50  # mutants that a process tries at a time


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files or directories, laid over the shipped catalogue"
    )
    parser.add_argument("--coverage", action="store_true", help="which rules, statuses and reasons the cases reach")
    parser.add_argument(
        "--min-coverage", type=float, metavar="N", help="fail where fewer than N percent of the rules decide a case"
    )
    parser.add_argument(
        "--corpus", metavar="FILE", help="labelled failures, one JSON object a line: print the accuracy"
    )
    parser.add_argument(
        "--without-own-provider",
        action="store_true",
        help="with --corpus: as if no file knew a failure's provider, which is how one that is new would fare",
    )
    parser.add_argument(
        "--mutate", action="store_true", help="take one condition away at a time and list what no case notices"
    )
    parser.add_argument("--sample", type=int, metavar="N", help="of the mutants, try only so many")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which ones `--sample` takes (default: 0)")
    parser.add_argument("--jobs", type=int, default=0, metavar="N", help="processes to use (default: one a core)")
    parser.add_argument("--format", choices=FORMATS, default="text")
    source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run every case; 1 where one fails, the rules do not load, or a gate is not met."""
    try:
        files = sources(options, options.paths, cases=not options.paths)
        policy = compiled(files)
        own = {file.name for file in files.files if not file.shipped} if options.paths else None
        corpus = _accuracy(policy, options.corpus, options.without_own_provider) if options.corpus else ()
    except PolicyError as error:
        if options.format == "json":
            print(
                json.dumps({"cases": [], "problems": list(map(asdict, error.problems))}, ensure_ascii=False, indent=2)
            )
        else:
            report(error.problems, options.format)
        return FINDINGS
    except (OSError, ValueError) as error:
        print(f"faultwise test: {options.corpus}: {error}", file=sys.stderr)
        return USAGE
    results = (*run_cases(policy), *run_client_cases(policy))
    covered = cover(policy) if options.coverage or options.min_coverage is not None else None
    if covered is not None and own is not None:
        covered = covered.of(own)
    tried, unnoticed = _mutate(options, files, policy, own) if options.mutate else ((), ())
    problems = [result.problem for result in results if result.problem is not None]
    problems += [mutant.problem for mutant in unnoticed]
    if options.format == "json":
        print(json.dumps(_data(results, covered, corpus, tried, unnoticed), ensure_ascii=False, indent=2))
    else:
        report(problems, options.format)
        print(f"{sum(result.ok for result in results)} passed, {sum(not result.ok for result in results)} failed")
        for line in _text(covered if options.coverage else None, corpus, options.mutate, tried, unnoticed):
            print(line)
    low = covered is not None and covered.percent < (options.min_coverage or 0)
    if low and covered is not None:
        print(f"coverage {covered.percent:.1f} % is below {options.min_coverage:g} %", file=sys.stderr)
    return FINDINGS if problems or low else FINE


def _accuracy(policy: Policy, path: str, strangers: bool) -> tuple[Score, ...]:
    """The score on a file of labelled failures; one that is no failure for us counts as wrong.

    `strangers`: under a provider's name that no file knows.

    Raises OSError, and ValueError naming the line that has no labels.
    """
    pairs: list[tuple[Mapping[str, Any], Mapping[str, Any] | None]] = []
    for number, line in enumerate(Path(path).read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            labels(row)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number}: {error}") from error
        failure = read(line, number, time.time()).failure
        if failure is not None and strangers:
            failure = replace(failure, provider="")
        pairs.append((row, decide(policy, failure).to_json() if failure is not None else None))
    return score(pairs)


def _mutate(
    options: argparse.Namespace, files: Sources, policy: Policy, own: Iterable[str] | None
) -> tuple[tuple[Mutant, ...], tuple[Mutant, ...]]:
    """The mutants that were tried, and those no case notices."""
    every = mutants(files, policy, own)
    numbers = list(range(len(every)))
    if options.sample is not None and options.sample < len(numbers):
        numbers = sorted(Random(options.seed).sample(numbers, options.sample))
    unnoticed: list[Mutant] = []
    with Progress("mutating", len(numbers)) as progress:
        parts = [numbers[at : at + PART] for at in range(0, len(numbers), PART)]
        for part, missed in zip(parts, spread(_try, parts, _setup, (files, own), options.jobs), strict=True):
            unnoticed += [every[number] for number in missed]
            progress.advance(len(part))
    return tuple(every[number] for number in numbers), tuple(unnoticed)


def _text(
    covered: Coverage | None,
    corpus: Iterable[Score],
    mutated: bool,
    tried: tuple[Mutant, ...],
    unnoticed: tuple[Mutant, ...],
) -> Iterable[str]:
    if covered is not None:
        yield from ("", *_coverage(covered))
    yield from ("", *map(str, corpus)) if corpus else ()
    if mutated:
        apart = ", ".join(
            f"{len(missed)} of {len(every)} {name}" for name, every, missed in _kinds_of(tried, unnoticed) if every
        )
        yield f"\n{len(tried)} mutants, {len(unnoticed)} that no case notices" + (f": {apart}" if apart else "")


def _kinds_of(tried: Iterable[Mutant], unnoticed: Iterable[Mutant]) -> Iterator[tuple[str, list[Mutant], list[Mutant]]]:
    """Mutants that hold more easily than their rule, and those that hold less easily: tried, and unnoticed."""
    for name, weakens in (("weakenings", True), ("narrowings", False)):
        every, missed = ([one for one in those if one.weakens is weakens] for those in (tried, unnoticed))
        yield name, every, missed


def _coverage(covered: Coverage) -> Iterable[str]:
    yield f"coverage {covered.percent:.1f} %: rules that decide a case"
    for state in STATES:
        rules = [rule for rule in covered.rules if rule.state == state]
        if rules:
            yield f"  {state} ({len(rules)})"
        for rule in rules:
            yield f"    {rule.fired:4} fired {rule.vetoed:4} vetoed  {rule.id}  {rule.origin}"
    yield "by status on the wire (or kind)"
    yield from _counts(covered.statuses)
    yield "by reason"
    yield from _counts(covered.reasons)


def _counts(counts: Mapping[str, int]) -> Iterable[str]:
    yield from (f"  {count:6}  {name}" for name, count in counts.items() if count)
    if none := [name for name, count in counts.items() if not count]:
        yield f"    none  {', '.join(none)}"


def _data(
    results: Iterable[CaseResult],
    covered: Coverage | None,
    corpus: Iterable[Score],
    tried: tuple[Mutant, ...],
    unnoticed: tuple[Mutant, ...],
) -> dict[str, Any]:
    data: dict[str, Any] = {"cases": [_row(result) for result in results]}
    if covered is not None:
        rules = [
            {
                "id": rule.id,
                "file": rule.origin.file,
                "line": rule.origin.line,
                "state": rule.state,
                "fired": rule.fired,
                "vetoed": rule.vetoed,
                "outranked": rule.outranked,
            }
            for rule in covered.rules
        ]
        data["coverage"] = {
            "percent": covered.percent,
            "rules": rules,
            "statuses": covered.statuses,
            "reasons": covered.reasons,
        }
    if corpus:
        data["corpus"] = [{"name": one.name, "right": one.right, "total": one.total} for one in corpus]
    if tried:
        data["mutants"] = {
            "tried": len(tried),
            "weakenings": sum(mutant.weakens for mutant in tried),
            "unnoticed": [{**_finding(mutant.problem), "weakens": mutant.weakens} for mutant in unnoticed],
        }
    return data


def _row(result: CaseResult) -> dict[str, object]:
    return {
        "name": result.name,
        "file": result.file,
        "line": result.line,
        "ok": result.ok,
        "message": result.problem.message if result.problem else None,
        "rule": result.verdict.rule if result.verdict else None,
    }


def _finding(problem: Problem) -> dict[str, object]:
    return {"file": problem.file, "line": problem.line, "column": problem.column, "message": problem.message}


_trials: Trials | None = None
_mutants: tuple[Mutant, ...] = ()


def _setup(files: Sources, own: Iterable[str] | None) -> None:
    """Compile the policy once in each process: compiled rules cannot be sent to another."""
    global _trials, _mutants
    policy = compiled(files)
    _trials, _mutants = Trials(policy), mutants(files, policy, own)


def _try(numbers: list[int]) -> list[int]:
    """Of some mutants, by number, those that no case notices."""
    assert _trials is not None, "`spread` sets up first"
    return [number for number in numbers if not _trials.notices(_mutants[number])]
