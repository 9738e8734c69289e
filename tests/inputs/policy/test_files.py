"""Rules are read from files: what users can change, what projects cannot, and the errors for invalid files."""

import os
from pathlib import Path

import pytest

from claude_headspace.config import Paths
from claude_headspace.errors import BadConfiguration
from claude_headspace.inputs.policy.files import load_built_in_rules, load_rules, read_project_rules
from claude_headspace.kernel.policy.rules import Rule
from claude_headspace.kernel.policy.verdict import Ruling


def load_with(paths: Paths, text: str, preset: str = "guard") -> dict[str, Rule]:
    """Return the rules with this policy.toml, by id."""
    paths.policy_file.write_text(text, encoding="utf-8")
    return {rule.id: rule for rule in load_rules(paths, preset).policy.rules}


def project(tmp_path: Path, text: str) -> str:
    """Create a project with this policy file; return its root."""
    folder = tmp_path / "shop" / ".headspace"
    folder.mkdir(parents=True)
    (folder / "policy.toml").write_text(text, encoding="utf-8")
    return str(tmp_path / "shop")


def test_built_in_rules_apply_without_a_file(paths: Paths) -> None:
    """The preset defines how they are applied."""
    assert load_rules(paths, "guard").policy == load_built_in_rules(paths, "guard").policy
    assert load_rules(paths, "strict").policy.strict
    assert load_rules(paths, "watch").policy.record_only
    assert load_rules(paths, "off").policy.rules == ()


def test_built_in_rules_have_a_reason(paths: Paths) -> None:
    """Every rule has a reason for the model, and denies with `strict`."""
    policy = load_rules(paths, "strict").policy
    assert all(rule.reason for rule in policy.rules)
    assert {policy.get_outcome(rule) for rule in policy.rules} == {Ruling.DENY}


def test_user_adds_a_rule(paths: Paths) -> None:
    """A new id adds a rule."""
    rules = load_with(paths, '[[rule]]\nid = "deploys"\noutcome = "ask"\ncommands = ["deploy"]\n')
    assert rules["deploys"].outcome is Ruling.ASK
    assert len(rules) == len(load_built_in_rules(paths, "guard").policy.rules) + 1


def test_user_changes_a_built_in_rule(paths: Paths) -> None:
    """The id of a built-in rule replaces the given keys. Other keys stay."""
    rules = load_with(
        paths, '[[rule]]\nid = "become-root"\noutcome = "deny"\n[[rule]]\nid = "fork-bomb"\nenabled = false\n'
    )
    assert (rules["become-root"].outcome, "sudo" in rules["become-root"].commands) == (Ruling.DENY, True)
    assert not rules["fork-bomb"].enabled


def test_path_placeholders_are_filled(paths: Paths) -> None:
    """The rules about the files of Headspace contain their paths."""
    rules = {rule.id: rule for rule in load_rules(paths, "guard").policy.rules}
    assert f"{paths.config}/**" in rules["own-rules"].changes
    assert f"{paths.state}/**" in rules["own-rules"].changes
    assert str(paths.secret_file) in rules["own-keys"].reads
    assert str(os.getpid()) in rules["own-process-ended"].arguments


def test_user_defines_messages(paths: Paths) -> None:
    """A list replaces the built-in one. Other lists stay."""
    paths.policy_file.write_text('[messaging]\nsend = ["mcp__pigeon__fly"]\n', encoding="utf-8")
    messaging = load_rules(paths, "guard").messaging
    assert messaging.send == ("mcp__pigeon__fly",)
    assert messaging.draft


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[rule]\n", "policy.toml cannot be used"),
        ('[[rule]]\nid = "x"\ncommands = ["ls"]\n', "rule x: Object missing required field `outcome`"),
        ('[[rule]]\nid = "x"\noutcome = "maybe"\ncommands = ["ls"]\n', "rule x: Invalid enum value 'maybe'"),
        ('[[rule]]\nid = "x"\noutcome = "deny"\ncomands = ["ls"]\n', "unknown field `comands`"),
        ('[[rule]]\nid = "x"\noutcome = "deny"\ncommands = "ls"\n', "Expected `array`"),
        ('[[rule]]\nid = "x"\noutcome = "deny"\n', "rule x would match every call"),
        ('[[rule]]\nid = "x"\noutcome = "deny"\nmodes = ["mission"]\n', "rule x would match every call"),
        (
            '[[rule]]\nid = "x"\noutcome = "abstain"\ncommands = ["ls"]\n',
            "the outcome must be deny, ask",
        ),
        ('[[rule]]\nid = "No Spaces"\noutcome = "deny"\ncommands = ["ls"]\n', "No Spaces"),
        ('[[rule]]\nid = "x"\noutcome = "deny"\ntraits = ["bad"]\n', "Invalid enum value 'bad'"),
        ("rules = 1\n", "unknown field `rules`"),
        ('[messaging]\npost = ["x"]\n', "unknown field `post`"),
    ],
)
def test_error_describes_the_problem(paths: Paths, text: str, problem: str) -> None:
    """It names the file, the rule and the problem, and has a hint."""
    paths.policy_file.write_text(text, encoding="utf-8")
    with pytest.raises(BadConfiguration) as raised:
        load_rules(paths, "guard")
    assert problem in raised.value.message
    assert str(paths.policy_file) in raised.value.message
    assert "headspace policy check" in raised.value.hint


def test_invalid_contacts_raise(paths: Paths) -> None:
    """A contact must have a name."""
    paths.contacts_file.write_text('[[contact]]\ntags = ["claude_direct"]\n', encoding="utf-8")
    with pytest.raises(BadConfiguration, match=r"contacts\.toml"):
        load_rules(paths, "guard")


def contact_rules(paths: Paths, preset: str) -> dict[str, str]:
    """Return the outcomes of the rules about contacts."""
    policy = load_rules(paths, preset).policy
    return {rule.id: policy.get_outcome(rule).value for rule in policy.rules if rule.untagged and rule.enabled}


def test_without_contacts_messages_are_asked_about(paths: Paths) -> None:
    """Requirement: "only to contacts with `claude_direct` or `claude_draft` tags". With an explanation why it asks."""
    paths.contacts_file.unlink()
    assert set(contact_rules(paths, "guard").values()) == {"ask"}
    assert set(contact_rules(paths, "strict").values()) == {"deny"}
    rules = {rule.id: rule for rule in load_rules(paths, "guard").policy.rules}
    assert "There is no contacts.toml" in rules["messages-only-to-contacts"].reason
    assert rules["messages-only-interactive"].outcome == "deny"
    paths.contacts_file.write_text("", encoding="utf-8")
    assert set(contact_rules(paths, "guard").values()) == {"deny"}


def test_invalid_contacts_allow_no_messages(paths: Paths) -> None:
    """The built-in rules then apply as if the file were empty."""
    paths.contacts_file.write_text("not toml", encoding="utf-8")
    book = load_built_in_rules(paths, "guard")
    assert all(rule.enabled for rule in book.policy.rules if rule.untagged)
    assert book.contacts == ()


def test_users_rule_about_contacts_is_not_changed(paths: Paths) -> None:
    """Even without contacts.toml."""
    paths.contacts_file.unlink()
    paths.policy_file.write_text('[[rule]]\nid = "messages-only-to-contacts"\noutcome = "warn"\n', encoding="utf-8")
    assert contact_rules(paths, "guard")["messages-only-to-contacts"] == "warn"


def test_named_file_must_exist(paths: Paths, tmp_path: Path) -> None:
    """A mistyped path is an error, not an empty policy."""
    with pytest.raises(BadConfiguration, match="does not exist"):
        load_rules(paths, "guard", tmp_path / "missing.toml")


def test_project_adds_rules(tmp_path: Path) -> None:
    """Their ids get the prefix `project-`."""
    root = project(tmp_path, '[[rule]]\nid = "no-push"\noutcome = "deny"\ncommands = ["git"]\narguments = ["push"]\n')
    [rule] = read_project_rules(root)
    assert (rule.id, rule.outcome) == ("project-no-push", Ruling.DENY)
    assert read_project_rules(str(tmp_path / "nowhere")) == ()


@pytest.mark.parametrize(
    "text",
    [
        '[[rule]]\nid = "x"\noutcome = "allow"\ncommands = ["rm"]\n',
        '[[rule]]\nid = "x"\noutcome = "ask"\nstrict = "allow"\ncommands = ["rm"]\n',
        '[[rule]]\nid = "system-delete"\noutcome = "deny"\nenabled = false\ncommands = ["rm"]\n',
        "[messaging]\nsend = []\n",
    ],
)
def test_project_cannot_weaken_rules(tmp_path: Path, text: str) -> None:
    """It cannot allow, change or disable built-in rules, or define messages."""
    with pytest.raises(BadConfiguration, match=r"\.headspace/policy\.toml"):
        read_project_rules(project(tmp_path, text))


def test_pipe_does_not_block(tmp_path: Path) -> None:
    """A pipe instead of a file is an error."""
    folder = tmp_path / "shop" / ".headspace"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "policy.toml")
    with pytest.raises(BadConfiguration, match="not a readable text file"):
        read_project_rules(str(tmp_path / "shop"))
