"""The verdict is that of the strictest matching rule, and names the rule."""

import pytest

from claude_headspace.kernel.decide import decide, find_matches, get_subject, matches_path
from claude_headspace.kernel.policy.call import UNKNOWN, Call, Message, PathUse, Program, Recipient, Subject, Trait, Use
from claude_headspace.kernel.policy.rules import Policy, Rule
from claude_headspace.kernel.policy.verdict import ABSTAIN, Ruling
from tests.kernel.story import Story

BASH = Call(tool="Bash", home="/home/dev", project="/home/dev/app")
GIT = Call(tool="Bash", programs=(Program("git", ("status",)),))


def rule(name: str, outcome: Ruling, **fields: object) -> Rule:
    """Return a rule."""
    return Rule(id=name, outcome=outcome, **fields)  # type: ignore[arg-type]  # the fields of a rule


def ruling(call: Call, *rules: Rule, strict: bool = False) -> tuple[str, str | None]:
    """Return the ruling of rules on a call, and the id of the rule."""
    verdict = decide(Policy(rules=rules, strict=strict), Subject(), call)
    return verdict.ruling.value, verdict.rule


def test_no_rule_abstains() -> None:
    """The decision is left to the client."""
    assert decide(Policy(), Subject(), GIT) is ABSTAIN


def test_strictest_rule_wins() -> None:
    """`deny` wins over `ask`, `warn` and `allow`, in any order. Among equal rulings the first rule wins."""
    rules = [rule(each.value, each, commands=("git",)) for each in Ruling if each is not Ruling.ABSTAIN]
    assert ruling(GIT, *rules) == ("deny", "deny")
    assert ruling(GIT, *reversed(rules[:3])) == ("ask", "ask")
    assert ruling(GIT, *rules[:2]) == ("warn", "warn")
    assert ruling(GIT, rules[0]) == ("allow", "allow")
    assert ruling(GIT, rule("a", Ruling.DENY, tools=("Bash",)), rules[3]) == ("deny", "a")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (GIT, "allow"),
        (Call(tool="Bash", programs=(Program("git"), Program("curl"))), "abstain"),
        (Call(tool="Bash", programs=(Program("git"), Program("ls"))), "allow"),
        (Call(tool="Bash", programs=(Program("git"),), traits=(Trait.UNREADABLE_SCRIPT,)), "abstain"),
    ],
)
def test_allow_must_cover_the_whole_call(call: Call, expected: str) -> None:
    """A program that no rule allows, or a trait, leads to `abstain`."""
    allowing = (rule("git", Ruling.ALLOW, commands=("git",)), rule("ls", Ruling.ALLOW, commands=("ls",)))
    assert ruling(call, *allowing)[0] == expected


def test_allow_for_a_file() -> None:
    """A rule about a file allows a tool that writes it."""
    call = Call(tool="Write", paths=(PathUse("/p/a", Use.WRITE, used_by="Write"),), project="/p")
    assert ruling(call, rule("own", Ruling.ALLOW, writes=("{project}/**",))) == ("allow", "own")


def test_strict_and_record_only() -> None:
    """A strict policy uses the `strict` outcome. A policy that only records enforces nothing."""
    asking = rule("x", Ruling.ASK, commands=("git",), strict=Ruling.DENY)
    assert ruling(GIT, asking) == ("ask", "x")
    assert ruling(GIT, asking, strict=True) == ("deny", "x")
    assert decide(Policy(rules=(asking,), record_only=True), Subject(), GIT).enforced is False


def test_reason() -> None:
    """The reason contains what would happen, the rule's own reason, and its id."""
    verdict = decide(Policy(rules=(rule("x", Ruling.DENY, commands=("git",), reason="Not now."),)), Subject(), GIT)
    assert verdict.reason == "Headspace does not allow this: git status. Not now. (rule x)"


def test_subject() -> None:
    """It has the mode, the role, and the id, name and root of the project."""
    agent = Story().agent
    found = get_subject(agent)
    assert (found.mode, found.role) == (agent.mode, agent.role)
    assert found.projects == (agent.project.id, agent.project.name, agent.project.root)


# --- matches ----------------------------------------------------------------------------------------------------------


def matches(rule: Rule, call: Call, subject: Subject | None = None) -> bool:
    """Whether a rule matches a call."""
    return bool(find_matches(Policy(rules=(rule,)), subject or Subject(), call))


def denying(**fields: object) -> Rule:
    """Return a rule that denies."""
    return Rule(id="r", outcome=Ruling.DENY, **fields)  # type: ignore[arg-type]  # the fields of a rule


def deleting(path: str, *, real: str = "", recursive: bool = True) -> Call:
    """Return a call that deletes a path."""
    use = PathUse(path, Use.DELETE, real, recursive=recursive, used_by="rm")
    return Call(tool="Bash", programs=(Program("rm"),), paths=(use,), home="/home/dev", project="/home/dev/app")


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/etc/**", "/etc", True),
        ("/etc/**", "/etc/ssl/x", True),
        ("/etc/**", "/etcetera", False),
        ("/", "/", True),
        ("/", "/x", False),
        ("**/.env", "/a/b/.env", True),
        ("**/.env", "/a/b.env", False),
        ("**/.env.*", "/a/.env.local", True),
        ("/home/*", "/home/dev", True),
        ("/home/*", "/home/dev/x", False),
        ("~", "/home/dev", True),
        ("~/.ssh/**", "/home/dev/.ssh/id_rsa", True),
        ("{project}/**", "/home/dev/app/src", True),
        ("/dev/sd?", "/dev/sda", True),
        ("/a[b]", "/a[b]", True),
        ("**", "/anything/at/all", True),
    ],
)
def test_path_patterns(pattern: str, path: str, expected: bool) -> None:
    """`*` stays within a name, `**` crosses directories, `~` and `{project}` are replaced."""
    assert matches_path(pattern, path, BASH) is expected


@pytest.mark.parametrize(
    ("fields", "subject", "expected"),
    [
        ({"modes": ("mission",)}, Subject("mission"), True),
        ({"modes": ("mission",)}, Subject("interactive"), False),
        ({"roles": ("chief",)}, Subject(role="chief"), True),
        ({"roles": ("chief",)}, Subject(), False),
        ({"projects": ("shop",)}, Subject(projects=("1", "shop", "/srv/shop")), True),
        ({"projects": ("/srv/**",)}, Subject(projects=("1", "shop", "/srv/shop")), True),
        ({"projects": ("api",)}, Subject(projects=("1", "shop", "/srv/shop")), False),
        ({"tools": ("Bash",)}, Subject(), True),
        ({"tools": ("mcp__*",)}, Subject(), False),
        ({"enabled": False}, Subject(), False),
    ],
)
def test_rule_applies_to_tool_and_agent(fields: dict[str, object], subject: Subject, expected: bool) -> None:
    """Tool, mode, role and project must match if the rule names them."""
    all_fields = {"commands": ("rm",), **fields}
    assert matches(denying(**all_fields), deleting("/x"), subject) is expected


def test_program_matches_by_name_argument_and_source() -> None:
    """All conditions must match the same program."""
    call = Call(tool="Bash", programs=(Program("kill", ("-9", "1"), ("lsof",)), Program("ls", ("-l",))))
    assert matches(denying(commands=("kill",), fed_by=("lsof",)), call)
    assert matches(denying(commands=("kill",), arguments=("-9",)), call)
    assert not matches(denying(commands=("ls",), arguments=("-9",)), call)
    assert not matches(denying(commands=("ls",), fed_by=("lsof",)), call)
    assert not matches(denying(commands=("kill",), except_arguments=("-9",)), call)


def test_path_matches_as_written_or_resolved() -> None:
    """A link cannot hide a path, in either direction."""
    assert matches(denying(deletes=("/etc/**",)), deleting("/home/dev/link", real="/etc"))
    assert matches(denying(deletes=("/etc/**",)), deleting("/etc", real="/private/etc"))
    assert not matches(denying(writes=("/etc/**",)), deleting("/etc"))
    assert matches(denying(changes=("/etc/**",)), deleting("/etc"))


def test_exception_must_match_both_forms_of_a_path() -> None:
    """A link with an excepted name to another file is no exception."""
    guarded = denying(changes=("**/.env.*",), except_paths=("**/.env.example",))
    assert not matches(guarded, deleting("/a/.env.example"))
    assert matches(guarded, deleting("/a/.env.example", real="/a/.env.local"))


def test_recursive_deletion_matches_patterns_below() -> None:
    """Other deletions match only the path itself."""
    protected = denying(deletes=("~/.ssh/**",))
    assert matches(protected, deleting("/home/dev"))
    assert matches(protected, deleting("/"))
    assert not matches(protected, deleting("/home/dev", recursive=False))
    assert not matches(protected, deleting("/home/dev/app"))


@pytest.mark.parametrize(
    ("path", "recursive", "expected"),
    [
        (UNKNOWN, True, "unclear"),
        (f"{UNKNOWN}/", True, "unclear"),
        (f"{UNKNOWN}/etc", True, "unclear"),
        (f"{UNKNOWN}/dist", True, None),
        (UNKNOWN, False, None),
        (f"/tmp/{UNKNOWN}", True, None),
    ],
)
def test_unknown_path_is_unclear(path: str, recursive: bool, expected: str | None) -> None:
    """The match is unclear only if the path would match with an empty unknown part."""
    found = find_matches(
        Policy(rules=(denying(deletes=("/", "/etc/**"), unclear=Ruling.ASK),)),
        Subject(),
        deleting(path, recursive=recursive),
    )
    assert ["unclear" if match.unclear else "certain" for match in found] == ([expected] if expected else [])


def test_known_end_of_a_path_matches() -> None:
    """`$X/.env` matches `**/.env`."""
    assert matches(denying(deletes=("**/.env",)), deleting(f"{UNKNOWN}/.env"))


def test_traits_and_messages() -> None:
    """Rules match the traits of a call and the recipients of its message."""
    assert matches(denying(traits=(Trait.FORK_BOMB,)), Call(tool="Bash", traits=(Trait.FORK_BOMB,)))
    assert not matches(denying(traits=(Trait.FORK_BOMB,)), BASH)
    ada, eve = Recipient("ada", ("friend",)), Recipient("eve")
    mail = denying(messages=("send",), untagged=("friend",))
    assert not matches(mail, Call(tool="m", message=Message("send", (ada,))))
    assert matches(mail, Call(tool="m", message=Message("send", (ada, eve))))
    assert matches(mail, Call(tool="m", message=Message("send"))), "an unknown recipient has no tag"
    assert not matches(mail, Call(tool="m", message=Message("draft", (eve,))))
    assert not matches(mail, BASH)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("interactive", "ask"), ("mission", "deny"), ("background", "deny"), ("headless", "deny")],
)
def test_where_nobody_can_answer_a_question_is_a_denial(mode: str, expected: str) -> None:
    """Requirement: "Blocks … `pkill`, `killall`", "`sudo`". It is asked if someone can answer; the reason says so."""
    asking = rule("sudo", Ruling.ASK, commands=("git",), unattended=Ruling.DENY)
    verdict = decide(Policy(rules=(asking,)), Subject(mode), GIT)
    assert verdict.ruling == expected
    assert (f"Nobody can answer in this session (mode {mode})" in (verdict.reason or "")) is (expected == "deny")


def test_other_rules_ask_everywhere() -> None:
    """Only a rule that says so has another outcome, and not with `strict`."""
    assert decide(Policy(rules=(rule("a", Ruling.ASK, commands=("git",)),)), Subject("mission"), GIT).ruling == "ask"
    strict = rule("a", Ruling.ASK, commands=("git",), strict=Ruling.DENY, unattended=Ruling.DENY)
    verdict = decide(Policy(rules=(strict,), strict=True), Subject("mission"), GIT)
    assert (verdict.ruling, "Nobody" in (verdict.reason or "")) == ("deny", False)
