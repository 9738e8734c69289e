"""Which rules hold for a call: places, programs, files, messages."""

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
from claude_headspace.kernel.policy.matching import fits_path, hits
from claude_headspace.kernel.policy.names import fits_name
from claude_headspace.kernel.policy.policy import Policy
from claude_headspace.kernel.policy.rules import Rule
from claude_headspace.kernel.policy.verdict import Ruling

BASH = Call(tool="Bash", home="/home/dev", project="/home/dev/app")


def holds(rule: Rule, call: Call, subject: Subject | None = None) -> bool:
    """Whether a rule holds for a call."""
    return bool(hits(Policy(rules=(rule,)), subject or Subject(), call))


def rule(**fields: object) -> Rule:
    """A rule that denies."""
    return Rule(id="r", outcome=Ruling.DENY, **fields)  # type: ignore[arg-type]  # the fields of a rule


def deleting(path: str, *, real: str = "", recursive: bool = True) -> Call:
    """A call that deletes."""
    use = PathUse(path, Use.DELETE, real, recursive=recursive, by="rm")
    return Call(tool="Bash", programs=(Program("rm"),), paths=(use,), home="/home/dev", project="/home/dev/app")


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
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
def test_patterns_of_paths(pattern: str, path: str, fits: bool) -> None:
    """`*` stays within a name, `**` crosses directories, `~` and `{project}` are places."""
    assert fits_path(pattern, path, BASH) is fits


def test_patterns_of_names() -> None:
    """In names `*` and `?` stand for anything, everything else for itself."""
    assert fits_name("mcp__*__send_*", "mcp__mail__send_email")
    assert fits_name("mkfs.*", "mkfs.ext4")
    assert not fits_name("rm", "rmdir")
    assert not fits_name("a.c", "abc")


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
def test_where_a_rule_holds(fields: dict[str, object], subject: Subject, expected: bool) -> None:
    """Tool, mode, role and project must all fit where they are named."""
    given = {"commands": ("rm",), **fields}
    assert holds(rule(**given), deleting("/x"), subject) is expected


def test_a_program_fits_by_name_argument_and_source() -> None:
    """All that a rule says of a program must hold for the same one."""
    call = Call(tool="Bash", programs=(Program("kill", ("-9", "1"), ("lsof",)), Program("ls", ("-l",))))
    assert holds(rule(commands=("kill",), fed_by=("lsof",)), call)
    assert holds(rule(commands=("kill",), arguments=("-9",)), call)
    assert not holds(rule(commands=("ls",), arguments=("-9",)), call)
    assert not holds(rule(commands=("ls",), fed_by=("lsof",)), call)
    assert not holds(rule(commands=("kill",), except_arguments=("-9",)), call)


def test_a_path_fits_as_written_or_as_it_is() -> None:
    """A link does not help, in either direction."""
    assert holds(rule(deletes=("/etc/**",)), deleting("/home/dev/link", real="/etc"))
    assert holds(rule(deletes=("/etc/**",)), deleting("/etc", real="/private/etc"))
    assert not holds(rule(writes=("/etc/**",)), deleting("/etc"))
    assert holds(rule(changes=("/etc/**",)), deleting("/etc"))


def test_exceptions_must_hold_for_both_names_of_a_file() -> None:
    """What looks like an exception and leads elsewhere is none."""
    guarded = rule(changes=("**/.env.*",), except_paths=("**/.env.example",))
    assert not holds(guarded, deleting("/a/.env.example"))
    assert holds(guarded, deleting("/a/.env.example", real="/a/.env.local"))


def test_deleting_a_directory_deletes_what_is_protected_in_it() -> None:
    """With everything below it, and only then."""
    protected = rule(deletes=("~/.ssh/**",))
    assert holds(protected, deleting("/home/dev"))
    assert holds(protected, deleting("/"))
    assert not holds(protected, deleting("/home/dev", recursive=False))
    assert not holds(protected, deleting("/home/dev/app"))


@pytest.mark.parametrize(
    ("path", "recursive", "says"),
    [
        (UNKNOWN, True, "unclear"),
        (f"{UNKNOWN}/", True, "unclear"),
        (f"{UNKNOWN}/etc", True, "unclear"),
        (f"{UNKNOWN}/dist", True, None),
        (UNKNOWN, False, None),
        (f"/tmp/{UNKNOWN}", True, None),
    ],
)
def test_what_cannot_be_told_is_unclear(path: str, recursive: bool, says: str | None) -> None:
    """Only where the unknown part, were it nothing, would lead to what is protected."""
    found = hits(
        Policy(rules=(rule(deletes=("/", "/etc/**"), unclear=Ruling.ASK),)),
        Subject(),
        deleting(path, recursive=recursive),
    )
    assert ["unclear" if hit.unclear else "sure" for hit in found] == ([says] if says else [])


def test_the_known_end_of_a_path_is_enough() -> None:
    """`$X/.env` is an `.env`, wherever it is."""
    assert holds(rule(deletes=("**/.env",)), deleting(f"{UNKNOWN}/.env"))


def test_traits_and_messages() -> None:
    """What a call is, and whom it writes to."""
    assert holds(rule(traits=(Trait.FORK_BOMB,)), Call(tool="Bash", traits=(Trait.FORK_BOMB,)))
    assert not holds(rule(traits=(Trait.FORK_BOMB,)), BASH)
    ada, eve = Recipient("ada", ("friend",)), Recipient("eve")
    mail = rule(messages=("send",), untagged=("friend",))
    assert not holds(mail, Call(tool="m", message=Message("send", (ada,))))
    assert holds(mail, Call(tool="m", message=Message("send", (ada, eve))))
    assert holds(mail, Call(tool="m", message=Message("send"))), "nobody that can be told is no friend"
    assert not holds(mail, Call(tool="m", message=Message("draft", (eve,))))
    assert not holds(mail, BASH)
