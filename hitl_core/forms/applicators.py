"""The keywords that hold schemas, each as a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from hitl_core.forms.budget import MAX_DEPTH, TooMuchWork
from hitl_core.forms.patterns import search
from hitl_core.forms.problem import MAX_PROBLEMS, Check, Problem, Problems, Run, at

Json = dict[str, Any]


class Node(NamedTuple):
    """A schema as a check. `certain`: Python types of which every value is valid."""

    check: Check
    certain: frozenset[type] = frozenset()


def properties_check(named: Mapping[str, Node]) -> Check:
    each = [(name, node.check) for name, node in named.items()]
    cost = 1 + len(each) // 4

    def check(value: Any, run: Run) -> Problems:
        if not isinstance(value, dict):
            return ()
        run.spend(cost)
        held, found = cast(Json, value), list[Problem]()
        seen, run.seen = run.seen, None
        for name, inner in each:
            if name in held:
                run.left -= 1
                if problems := inner(held[name], run):
                    found += at(name, _here(problems), run)
                if seen is not None:
                    seen.add(name)
        run.seen = seen
        return found

    return check


def patterns_check(named: Mapping[str, Node]) -> Check:
    def check(value: Any, run: Run) -> Problems:
        if not isinstance(value, dict):
            return ()
        found = list[Problem]()
        seen, run.seen = run.seen, None
        for pattern, node in named.items():
            for name, item in cast(Json, value).items():
                run.spend(2)
                if not search(pattern, name, run):
                    continue
                if len(found) < MAX_PROBLEMS and (problems := node.check(item, run)):
                    found += at(name, _here(problems), run)
                if seen is not None:
                    seen.add(name)
        run.seen = seen
        return found

    return check


def extra_check(named: Sequence[str], patterns: Sequence[str], node: Node) -> Check:
    """`additionalProperties`."""
    known = frozenset(named)

    def check(value: Any, run: Run) -> Problems:
        if not isinstance(value, dict):
            return ()
        held = cast(Json, value)
        run.spend(1 + len(held) // 4)
        names = [name for name in held if name not in known]
        if patterns:
            run.spend(2 * len(names) * len(patterns))
            names = [n for n in names if not any(search(p, n, run) for p in patterns)]
        if run.seen is not None:
            run.seen.update(names)
        return _each_of(names, held, node, run)

    return check


def names_check(node: Node) -> Check:
    def check(value: Any, run: Run) -> Problems:
        if not isinstance(value, dict):
            return ()
        seen, run.seen = run.seen, None
        wrong: str | None = None
        for name in cast(Json, value):
            run.spend(1)
            if node.check(name, run):
                wrong = name
                break
        run.seen = seen
        if wrong is None:
            return ()
        return (Problem("propertyNames", message=f"has a name that is not allowed: {wrong[:80]}"),)

    return check


def items_check(first: Sequence[Node], rest: Node | None) -> Check:
    """The items one after the other, and those behind them."""
    count = len(first)

    def check(value: Any, run: Run) -> Problems:
        if not isinstance(value, list):
            return ()
        held = cast("list[Any]", value)
        run.spend(1 + len(held) // 8)
        if run.seen is not None:
            run.seen.update(range(count if rest is None else len(held)))
        found = list[Problem]()
        seen, run.seen = run.seen, None
        for index, (node, item) in enumerate(zip(first, held, strict=False)):
            run.spend(1)
            found += at(index, node.check(item, run), run)
        if rest is not None and len(held) > count:
            left = held[count:] if count else held
            if not (rest.certain and {*map(type, left)} <= rest.certain):
                found += _each_item(left, count, rest.check, run)
        run.seen = seen
        return found

    return check


def _each_item(items: list[Any], start: int, check: Check, run: Run) -> list[Problem]:
    run.spend(len(items))
    found = list[Problem]()
    for index, item in enumerate(items, start):
        if problems := check(item, run):
            found += at(index, problems, run)
            if len(found) >= MAX_PROBLEMS:
                break
    return found


def contains_check(node: Node, least: float, most: float | None, *, marks: bool) -> Check:
    def check(value: Any, run: Run) -> Problems:
        if not isinstance(value, list):
            return ()
        held = cast("list[Any]", value)
        run.spend(1 + len(held))
        seen, run.seen = run.seen, None
        fitting = [n for n, item in enumerate(held) if not node.check(item, run)]
        run.seen = seen
        if marks and seen is not None:
            seen.update(fitting)
        if len(fitting) < least:
            return (Problem("contains", least),)
        return (Problem("maxContains", most),) if most is not None and len(fitting) > most else ()

    return check


def all_check(nodes: Sequence[Node]) -> Check:
    def check(value: Any, run: Run) -> Problems:
        run.spend(len(nodes))
        found = list[Problem]()
        for node in nodes:
            if problems := node.check(value, run):
                run.spend(2 * len(problems))
                found += problems
        return found[:MAX_PROBLEMS]

    return check


def any_check(nodes: Sequence[Node]) -> Check:
    def check(value: Any, run: Run) -> Problems:
        wrong, met = list[Problems](), False
        for node in nodes:
            run.spend(2)
            problems = attempt(node, value, run)
            met = met or not problems
            if met and run.seen is None:
                return ()
            wrong.append(problems)
        return () if met else (Problem("anyOf", branches=tuple(wrong)),)

    return check


def one_check(nodes: Sequence[Node]) -> Check:
    def check(value: Any, run: Run) -> Problems:
        wrong, met = list[Problems](), 0
        for node in nodes:
            run.spend(1)
            problems = attempt(node, value, run)
            met += not problems
            if met > 1:
                return (Problem("oneOf"),)
            wrong.append(problems)
        return () if met else (Problem("oneOf", branches=tuple(wrong)),)

    return check


def not_check(node: Node) -> Check:
    wrong = (Problem("not"),)

    def check(value: Any, run: Run) -> Problems:
        run.spend(1)
        seen, run.seen = run.seen, None
        problems = node.check(value, run)
        run.seen = seen
        return () if problems else wrong

    return check


def if_check(condition: Node, then: Node | None, otherwise: Node | None) -> Check:
    def check(value: Any, run: Run) -> Problems:
        run.spend(2)
        node = otherwise if attempt(condition, value, run) else then
        return () if node is None else node.check(value, run)

    return check


def dependent_check(named: Mapping[str, Node]) -> Check:
    def check(value: Any, run: Run) -> Problems:
        if not isinstance(value, dict):
            return ()
        found = list[Problem]()
        for name, node in named.items():
            run.spend(1)
            if name in value:
                found += node.check(value, run)
        return found[:MAX_PROBLEMS]

    return check


def ref_check(nodes: Mapping[int, Node], target: int) -> Check:
    """To a schema that may not be a check yet: it may hold this one."""

    def check(value: Any, run: Run) -> Problems:
        run.spend(2)
        run.depth += 1
        if run.depth > MAX_DEPTH:
            raise TooMuchWork("the schema is nested too deeply to be checked")
        problems = nodes[target].check(value, run)
        run.depth -= 1
        return problems

    return check


def unevaluated_check(rest: Check, properties: Node | None, items: Node | None) -> Check:
    """A schema's other keywords, and then what they were not about."""

    def check(value: Any, run: Run) -> Problems:
        around, run.seen = run.seen, set[str | int]()
        found = [*rest(value, run)]
        own, run.seen = run.seen, None
        if properties is not None and isinstance(value, dict):
            held = cast(Json, value)
            run.spend(1 + len(held))
            names = [name for name in held if name not in own]
            found += _each_of(names, held, properties, run)
            own.update(names)
        if items is not None and isinstance(value, list):
            run.spend(1 + len(cast("list[Any]", value)))
            for index, item in enumerate(cast("list[Any]", value)):
                if index not in own:
                    found += at(index, _here(items.check(item, run)), run)
                    own.add(index)
                    if len(found) >= MAX_PROBLEMS:
                        break
        run.seen = around
        if around is not None:
            run.spend(len(own))
            around |= own
        return found

    return check


def attempt(node: Node, value: Any, run: Run) -> Problems:
    """One schema of several: what it was about counts only where it is met."""
    around = run.seen
    if around is None:
        return node.check(value, run)
    run.seen = set[str | int]()
    problems = node.check(value, run)
    if not problems:
        run.spend(1 + len(run.seen))
        around |= run.seen
    run.seen = around
    return problems


def _each_of(names: list[str], held: Json, node: Node, run: Run) -> list[Problem]:
    found = list[Problem]()
    seen, run.seen = run.seen, None
    run.spend(len(names))
    for name in names:
        if problems := node.check(held[name], run):
            found += at(name, _here(problems), run)
            if len(found) >= MAX_PROBLEMS:
                break
    run.seen = seen
    return found


def _here(problems: Problems) -> Problems:
    """With better words for what may not be there at all."""
    if len(problems) == 1 and problems[0].keyword == "false" and not problems[0].path:
        return (problems[0]._replace(message="is not allowed here"),)
    return problems
