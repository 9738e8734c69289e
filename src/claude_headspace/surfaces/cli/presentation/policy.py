"""Rules and verdicts, in words."""

from collections.abc import Sequence
from datetime import datetime

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line
from claude_headspace.surfaces.text.labels import Json, clock_time, count, cut, one_line

LABEL = 12
MOST_LISTED = 50

RULINGS = {
    "deny": ("✕ denied", "error"),
    "ask": ("◆ asked", "waiting"),
    "warn": ("◆ warned", "strong"),
    "allow": ("○ allowed", ""),
    "abstain": ("○ left to Claude Code", ""),
}
"""What is said of a call, in the shapes that states have."""

USES = {"read": "reads", "write": "writes", "delete": "deletes"}


def ruling_span(verdict: Json) -> Span:
    """A ruling with its shape; one that was not enforced says so."""
    words, role = RULINGS.get(verdict["ruling"], (verdict["ruling"], ""))
    return Span(words if verdict.get("enforced", True) else f"{words}, only on paper", role)


# --- check ---


def checked(report: Json, width: int) -> list[Line]:
    """What the rules come from."""
    own = report["file"] if report["exists"] else f"{report['file']} (not there: only the rules that come along)"
    lines = [line(f"The rules can be used: {count(report['rules'], 'rule')}, preset {report['preset']}.")]
    known = f"{count(report['contacts'], 'contact')} in {report['contacts_file']}"
    contacts = known if report["contacts_needed"] else f"{report['contacts_file']} (not there: nobody is asked for any)"
    lists = (("added", "added"), ("changed", "changed"), ("off", "switched_off"), ("project", "project_rules"))
    pairs = [("yours", own), *((label, ", ".join(report[name])) for label, name in lists), ("contacts", contacts)]
    for label, text in pairs:
        lines += _field(label, text, width) if text else []
    return lines


# --- explain ---


def explained(report: Json, width: int) -> list[Line]:
    """What a call would do, and what the rules say."""
    verdict = report["verdict"]
    lines = [line(ruling_span(verdict), f"  by the rule {verdict['rule']}" if verdict["rule"] else "")]
    lines += _field("because", verdict["reason"], width) if verdict["reason"] else []
    lines += _listed("It runs", [_program(program) for program in report["programs"]], width)
    lines += _listed("It touches", [_file(use) for use in report["files"]], width)
    lines += _listed("It is", report["traits"], width)
    lines += _listed("Rules that hold", [_hit(hit) for hit in report["rules"]], width)
    return lines


def _program(program: Json) -> str:
    fed = f"  (fed by {', '.join(program['fed_by'])})" if program["fed_by"] else ""
    return one_line(program["runs"]) + fed


def _file(use: Json) -> str:
    below = " with everything below" if use["recursive"] else ""
    real = f", really {use['real']}" if use["real"] else ""
    return f"{USES[use['use']]} {use['path']}{real}{below}"


def _hit(hit: Json) -> str:
    return f"{hit['says']:<6}{hit['rule']}" + (", as far as can be determined" if hit["unclear"] else "")


# --- test ---


def tested(report: Json, width: int) -> list[Line]:
    """Which calls came out otherwise."""
    wrong = report["wrong"]
    if not wrong:
        return [line(f"All {count(report['cases'], 'call')} got the verdict that they should.")]
    lines = [line(f"{len(wrong)} of {count(report['cases'], 'call')} came out otherwise:")]
    for each in wrong[:MOST_LISTED]:
        said = f"{each['got']}" + (f" by {each['rule']}" if each["rule"] else "")
        wanted = each["expected"] + (f" by {each['expected_rule']}" if each["expected_rule"] else "")
        lines += hanging(line("  "), one_line(each["call"]), width)
        lines.append(dim(f"    expected {wanted}, got {said}"))
    return lines + _more(wrong)


# --- look back ---


def looked_back(report: Json, now: datetime, width: int) -> list[Line]:
    """What would have been stopped."""
    stopped = report["deny"] + report["ask"]
    calls = count(report["calls"], "call")
    if not report["verdicts"]:
        return [line(f"Of {calls} these rules would have stopped none.")]
    rest = f" ({report['deny']} denied, {report['ask']} asked about" + (
        f"; {report['warn']} warned of)" if report["warn"] else ")"
    )
    lines = [line(f"Of {calls} these rules would have stopped {stopped}{rest}:"), EMPTY_LINE]
    for each in report["verdicts"][-MOST_LISTED:]:
        lines += verdict_lines(each, now, width)
    return lines + _more(report["verdicts"])


def verdict_lines(verdict: Json, now: datetime, width: int) -> list[Line]:
    """One verdict: when, of whom, what, by which rule."""
    start = line(
        Span(f"  {clock_time(verdict['at'], now)}  ", "quiet"),
        ruling_span(verdict),
        f"  {verdict['agent']}  " if verdict.get("agent") else "  ",
    )
    rule = f"  ({verdict['rule']})" if verdict["rule"] else ""
    lapse = f"  guard was off: {verdict['lapse']}" if verdict.get("lapse") else ""
    return hanging(start, cut(one_line(verdict["call"]), 200) + rule + lapse, width, indent=4)


def judged(verdicts: Sequence[Json], now: datetime, width: int) -> list[Line]:
    """What the rules said of an agent's calls, the newest first."""
    if not verdicts:
        return []
    lines = [EMPTY_LINE, line(Span("What the rules said, the newest first", "strong"))]
    return lines + [each for verdict in reversed(verdicts) for each in verdict_lines(verdict, now, width)]


def _more(found: Sequence[Json]) -> list[Line]:
    return [dim(f"  … and {len(found) - MOST_LISTED:,} more")] if len(found) > MOST_LISTED else []


def _listed(title: str, entries: Sequence[str], width: int) -> list[Line]:
    if not entries:
        return []
    lines = [EMPTY_LINE, line(Span(title, "strong"))]
    for entry in entries[:MOST_LISTED]:
        lines += hanging(line("  "), entry, width)
    return lines


def _field(label: str, text: str, width: int) -> list[Line]:
    return hanging(line(Span(f"  {label:<{LABEL}}", "quiet")), text, width)
