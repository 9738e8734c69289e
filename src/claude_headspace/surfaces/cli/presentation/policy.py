"""Rules and verdicts as lines."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line
from claude_headspace.surfaces.cli.presentation.agent_details import section
from claude_headspace.surfaces.text.formatting import Json, clock_time, cut, one_line

LABEL = 12
MAX_LISTED = 50

RULINGS = {
    "deny": ("✕ denied", "error"),
    "ask": ("◆ asked", "waiting"),
    "warn": ("◆ warned", "strong"),
    "allow": ("○ allowed", ""),
    "abstain": ("○ left to the client", ""),
}
"""Verdicts with the symbols of agent states, and their roles."""

DECISIONS = {
    "deny": ("✕ deny", "error"),
    "ask": ("◆ ask", "waiting"),
    "warn": ("◆ warn", "strong"),
    "allow": ("○ allow", ""),
    "abstain": ("○ left to the client", ""),
}
"""The same for a tool call that has not run."""

USES = {"read": "reads", "write": "writes", "delete": "deletes"}


def ruling_span(verdict: Json, texts: Mapping[str, tuple[str, str]] = RULINGS) -> Span:
    """A ruling with its symbol. One that was not enforced says so."""
    words, role = texts.get(verdict["ruling"], (verdict["ruling"], ""))
    return Span(words if verdict.get("enforced", True) else f"{words}, not enforced", role)


# --- check ---


def policy_check_result(report: Json, width: int) -> list[Line]:
    """The files of the rules, and what they change."""
    own = report["file"] if report["exists"] else f"{report['file']} (does not exist; optional)"
    active = f"{report['active']} of {count(report['rules'], 'rule')} active"
    lines = [line(f"The rules are valid: {active}, preset {report['preset']}.")]
    known = f"{count(report['contacts'], 'contact')} in {report['contacts_file']}"
    contacts = known if report["contacts_needed"] else f"{report['contacts_file']} (does not exist; optional)"
    lists = (("added", "added"), ("changed", "changed"), ("off", "switched_off"), ("project", "project_rules"))
    pairs = [("yours", own), *((label, ", ".join(report[name])) for label, name in lists), ("contacts", contacts)]
    for label, text in pairs:
        lines += _field(label, text, width) if text else []
    return lines


# --- explain ---


def explanation(report: Json, width: int) -> list[Line]:
    """What a tool call would do, and what the rules decide."""
    verdict = report["verdict"]
    lines = [line(ruling_span(verdict, DECISIONS), f" (rule {verdict['rule']})" if verdict["rule"] else "")]
    lines += _field("because", verdict["reason"], width) if verdict["reason"] else []
    lines += section("Runs", [_program(program) for program in report["programs"]], width)
    lines += section("Uses", [_file(use) for use in report["files"]], width)
    lines += section("Properties", report["traits"], width)
    lines += section("Matching rules", [_hit(hit) for hit in report["rules"]], width)
    return lines


def _program(program: Json) -> str:
    fed = f"  (fed by {', '.join(program['fed_by'])})" if program["fed_by"] else ""
    return one_line(program["runs"]) + fed


def _file(use: Json) -> str:
    below = " recursively" if use["recursive"] else ""
    real = f", resolves to {use['real']}" if use["real"] else ""
    return f"{USES[use['use']]} {use['path']}{real}{below}"


def _hit(hit: Json) -> str:
    return f"{hit['says']:<6}{hit['rule']}" + (", uncertain" if hit["unclear"] else "")


# --- test ---


def policy_test_result(report: Json, width: int) -> list[Line]:
    """The tool calls with another verdict than expected."""
    wrong = report["wrong"]
    if not wrong:
        return [line(f"All {count(report['cases'], 'call')} got the expected verdict.")]
    lines = [line(f"{len(wrong)} of {count(report['cases'], 'call')} got another verdict than expected:")]
    for each in wrong[:MAX_LISTED]:
        got = f"{each['got']}" + (f" by {each['rule']}" if each["rule"] else "")
        wanted = each["expected"] + (f" by {each['expected_rule']}" if each["expected_rule"] else "")
        lines += hanging(line("  "), one_line(each["call"]), width)
        lines.append(dim(f"    expected {wanted}, got {got}"))
    return lines + _more(wrong)


# --- backtest ---


def backtest_result(report: Json, now: datetime, width: int) -> list[Line]:
    """The tool calls that would have been stopped."""
    stopped = report["deny"] + report["ask"]
    calls = count(report["calls"], "call")
    if not report["verdicts"]:
        return [line(f"These rules would have stopped none of {calls}.")]
    rest = f" ({report['deny']} denied, {report['ask']} asked" + (
        f"; {report['warn']} warned)" if report["warn"] else ")"
    )
    lines = [line(f"These rules would have stopped {stopped} of {calls}{rest}:"), EMPTY_LINE]
    for each in report["verdicts"][-MAX_LISTED:]:
        lines += verdict_lines(each, now, width)
    return lines + _more(report["verdicts"])


def verdict_lines(verdict: Json, now: datetime, width: int) -> list[Line]:
    """One verdict: time, agent, tool call and rule."""
    start = line(
        Span(f"  {clock_time(verdict['at'], now)}  ", "dim"),
        ruling_span(verdict),
        f"  {verdict['agent']}  " if verdict.get("agent") else "  ",
    )
    rule = f"  ({verdict['rule']})" if verdict["rule"] else ""
    lapse = f"  guard off: {verdict['lapse']}" if verdict.get("lapse") else ""
    return hanging(start, cut(one_line(verdict["call"]), 200) + rule + lapse, width, indent=4)


def verdict_history(verdicts: Sequence[Json], now: datetime, width: int) -> list[Line]:
    """The verdicts about the tool calls of an agent, newest first."""
    if not verdicts:
        return []
    lines = [EMPTY_LINE, line(Span("Verdicts, newest first", "strong"))]
    return lines + [each for verdict in reversed(verdicts) for each in verdict_lines(verdict, now, width)]


def _more(found: Sequence[Json]) -> list[Line]:
    return [dim(f"  … and {len(found) - MAX_LISTED:,} more")] if len(found) > MAX_LISTED else []


def _field(label: str, text: str, width: int) -> list[Line]:
    return hanging(line(Span(f"  {label:<{LABEL}}", "dim")), text, width)
