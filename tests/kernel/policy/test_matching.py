"""Rules match calls by tool, agent, program, file, trait and message."""

import pytest

from claude_headspace.kernel.policy.call import (
    UNKNOWN,
    Call,
    Message,
    PathUse,
    Program,
    Recipient,
    Subject,
    Trait,
    Use,
)
from claude_headspace.kernel.policy.matching import find_matches, matches_path
from claude_headspace.kernel.policy.names import matches_name
from claude_headspace.kernel.policy.policy import Policy
from claude_headspace.kernel.policy.rules import Rule
from claude_headspace.kernel.policy.verdict import Ruling

BASH = Call(tool="Bash", home="/home/dev", project="/home/dev/app")


def matches(rule: Rule, call: Call, subject: Subject | None = None) -> bool:
    """Whether a rule matches a call."""
    return bool(find_matches(Policy(rules=(rule,)), subject or Subject(), call))


def rule(**fields: object) -> Rule:
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


def test_name_patterns() -> None:
    """`*` and `?` are wildcards; all other characters are literal."""
    assert matches_name("mcp__*__send_*", "mcp__mail__send_email")
    assert matches_name("mkfs.*", "mkfs.ext4")
    assert not matches_name("rm", "rmdir")
    assert not matches_name("a.c", "abc")


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
    assert matches(rule(**all_fields), deleting("/x"), subject) is expected


def test_program_matches_by_name_argument_and_source() -> None:
    """All conditions must match the same program."""
    call = Call(tool="Bash", programs=(Program("kill", ("-9", "1"), ("lsof",)), Program("ls", ("-l",))))
    assert matches(rule(commands=("kill",), fed_by=("lsof",)), call)
    assert matches(rule(commands=("kill",), arguments=("-9",)), call)
    assert not matches(rule(commands=("ls",), arguments=("-9",)), call)
    assert not matches(rule(commands=("ls",), fed_by=("lsof",)), call)
    assert not matches(rule(commands=("kill",), except_arguments=("-9",)), call)


def test_path_matches_as_written_or_resolved() -> None:
    """A link cannot hide a path, in either direction."""
    assert matches(rule(deletes=("/etc/**",)), deleting("/home/dev/link", real="/etc"))
    assert matches(rule(deletes=("/etc/**",)), deleting("/etc", real="/private/etc"))
    assert not matches(rule(writes=("/etc/**",)), deleting("/etc"))
    assert matches(rule(changes=("/etc/**",)), deleting("/etc"))


def test_exception_must_match_both_forms_of_a_path() -> None:
    """A link with an excepted name to another file is no exception."""
    guarded = rule(changes=("**/.env.*",), except_paths=("**/.env.example",))
    assert not matches(guarded, deleting("/a/.env.example"))
    assert matches(guarded, deleting("/a/.env.example", real="/a/.env.local"))


def test_recursive_deletion_matches_patterns_below() -> None:
    """Other deletions match only the path itself."""
    protected = rule(deletes=("~/.ssh/**",))
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
        Policy(rules=(rule(deletes=("/", "/etc/**"), unclear=Ruling.ASK),)),
        Subject(),
        deleting(path, recursive=recursive),
    )
    assert ["unclear" if match.unclear else "certain" for match in found] == ([expected] if expected else [])


def test_known_end_of_a_path_matches() -> None:
    """`$X/.env` matches `**/.env`."""
    assert matches(rule(deletes=("**/.env",)), deleting(f"{UNKNOWN}/.env"))


def test_traits_and_messages() -> None:
    """Rules match the traits of a call and the recipients of its message."""
    assert matches(rule(traits=(Trait.FORK_BOMB,)), Call(tool="Bash", traits=(Trait.FORK_BOMB,)))
    assert not matches(rule(traits=(Trait.FORK_BOMB,)), BASH)
    ada, eve = Recipient("ada", ("friend",)), Recipient("eve")
    mail = rule(messages=("send",), untagged=("friend",))
    assert not matches(mail, Call(tool="m", message=Message("send", (ada,))))
    assert matches(mail, Call(tool="m", message=Message("send", (ada, eve))))
    assert matches(mail, Call(tool="m", message=Message("send"))), "an unknown recipient has no tag"
    assert not matches(mail, Call(tool="m", message=Message("draft", (eve,))))
    assert not matches(mail, BASH)
