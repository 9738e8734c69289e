"""Who works on the shop's API. Data only."""

from claude_headspace.demo.steps import Call, Done, Life, Permission, Plan, Prompt, Question, Rests, Says
from claude_headspace.demo.team.props import (
    MINUTES,
    OPUS,
    SONNET,
    bash,
    chapter,
    edit,
    fails,
    grep,
    passed,
    read,
    write,
)

API = (
    Life(
        name="nimble-kestrel",
        project="api",
        branch="feat/checkout",
        model=SONNET,
        tokens=88_000,
        since=214,
        past=(
            *chapter(
                "The checkout accepts expired cards. Fix it and add a test.",
                grep("expires_at", "src/checkout", 5),
                read("api/src/checkout/cards.py"),
                fails("pytest tests/checkout -q", "E   AssertionError: an expired card was charged", 8),
                edit("api/src/checkout/cards.py", "month > today.month", "(year, month) < (today.year, today.month)"),
                bash("pytest tests/checkout -q", passed(61, 4.31), 9),
                Done("Expired cards are refused now, with a test for the turn of the year."),
                then=95 * MINUTES,
            ),
            *chapter(
                "Write down how a refund works, for support.",
                read("api/src/checkout/refunds.py"),
                write("api/docs/refunds.md", "# Refunds\n\nA refund goes back the way the money came.\n"),
                Done("`docs/refunds.md` has it on one page, with the two cases that need a person."),
                then=64 * MINUTES,
            ),
        ),
        loop=(
            Prompt("Add integration tests for the checkout."),
            read("api/src/checkout/service.py"),
            grep("def test_", "tests/checkout", 14),
            Says("The checkout has **no** integration tests yet. Before I write them I need one decision."),
            Question(
                "Which database should the tests run against?",
                "Database",
                (
                    ("PostgreSQL in a container", "As in production; 4 s slower to start."),
                    ("SQLite in memory", "Fast; two queries use features that it lacks."),
                    ("Both", "SQLite on every push, PostgreSQL at night."),
                ),
                waits=480,
            ),
            Says("{answer} it is. I write the fixtures first."),
            write("api/tests/checkout/conftest.py", "import pytest\n"),
            write("api/tests/checkout/test_flow.py", "def test_a_cart_becomes_an_order(shop): ...\n", 18),
            bash("pytest tests/checkout -q", passed(73, 12.8), 15),
            Done("Twelve integration tests, on {answer}. They take 8 s more on every push."),
            Rests(40),
        ),
    ),
    Life(
        name="patient-heron",
        project="api",
        branch="feat/tokens",
        model=OPUS,
        tokens=200_000,
        since=640,
        past=chapter(
            "How do our sessions work today? Just explain.",
            grep("SessionStore", "src", 8),
            read("api/src/auth/session.py"),
            read("api/src/auth/middleware.py"),
            Done(
                "A random id in a cookie, looked up in Redis on **every** request, valid for 14 days. "
                "Logging out deletes it; changing the password does not."
            ),
            then=31 * MINUTES,
        ),
        loop=(
            Prompt("Plan the move from sessions to short-lived tokens. No code yet."),
            Call("Glob", {"pattern": "src/auth/**/*.py"}, {"filenames": ["session.py"], "numFiles": 9}, 1),
            read("api/src/auth/session.py"),
            grep("require_login", "src", 47),
            Says("47 places ask for a login, all through one decorator. That makes it easier than I feared."),
            Plan(
                "# Tokens instead of sessions\n\n"
                "1. Issue a 10 minute token beside the session cookie\n"
                "2. Let `require_login` take either, for two releases\n"
                "3. Move the mobile app, then the shop\n"
                "4. Remove the session table and its Redis\n\n"
                "Risk: clients with **cached** cookies are logged out once.",
                waits=1300,
            ),
            write("api/src/auth/tokens.py", "def issue(user): ...\n", 20),
            edit("api/src/auth/decorators.py", "session =", "login = token_of(request) or", 14),
            bash("pytest tests/auth -q", passed(214, 11.82), 16),
            Done("Step 1 is done: tokens are issued beside sessions, and nobody has to use them yet."),
            Rests(90),
        ),
    ),
    Life(
        name="snug-plover",
        project="api",
        branch="fix/login-emoji",
        model=OPUS,
        tokens=118_000,
        since=38,
        past=(
            *chapter(
                "Why is the login so slow on the test machine?",
                bash("make profile", "p95 1840 ms: smtplib.SMTP.connect", 72),
                read("api/src/auth/notify.py"),
                Done(
                    "Each login waits for the mail server. In production that call is queued, so only tests are slow."
                ),
                then=58 * MINUTES,
            ),
            *chapter(
                "The login page returns 500 when the password has an emoji in it. Fix it and add a test.",
                grep("def verify_password", "src", 1),
                read("api/src/auth/passwords.py"),
                Says("The hash is made from `latin-1`, which has no emoji."),
                fails("pytest tests/auth -q", "E   UnicodeEncodeError: 'latin-1' codec can't encode '\\U0001f642'", 7),
                edit("api/src/auth/passwords.py", 'encode("latin-1")', 'encode("utf-8")'),
                Says(
                    'Fixed by using UTF-8:\n\n```python\ndigest = scrypt(password.encode("utf-8"), salt=salt)\n```\n\n'
                    "Old hashes stay valid, since ASCII is the same in both."
                ),
                Permission(
                    bash("make migrate-test", "1 migration applied", 9, "Bring the test database up to date"), 95
                ),
                bash("pytest tests/auth -q", passed(214, 11.82), 14),
                Done("Passwords may hold any character now. 214 tests pass, three of them new."),
                then=7 * MINUTES,
            ),
        ),
        loop=(
            Prompt("Now the same for names: Zoë and Łukasz should both be able to register."),
            grep("display_name", "src", 11),
            read("api/src/users/names.py"),
            bash("pytest tests/users -q", passed(96, 6.2), 95, "Run the tests of the users"),
            edit("api/src/users/names.py", "isalpha()", "isprintable()", 12),
            bash("npm test -- --watch=false", "Tests: 88 passed, 88 total", 75, "Run the page's tests too"),
            Done(
                "Names take any printable character. I normalise them, so that Zoë is one person however it is typed."
            ),
            Rests(12),
            Prompt("What about names that only differ in their accents?"),
            grep("unique", "src/users", 4),
            fails("pytest tests/users -q -k accents", "E   assert 'zoe' == 'zoë'", 35),
            edit("api/src/users/models.py", "unique=True", 'unique=True, collation="und-x-icu"', 15),
            bash("pytest tests/users -q", passed(99, 6.4), 60),
            Done("They are different people, as they would expect. The index knows that now."),
            Rests(15),
        ),
    ),
)
