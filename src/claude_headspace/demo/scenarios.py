"""The simulated agents: a team that works on a web shop, most of them with Claude Code. Data only.

Together they show what the board can show: dialogs of each kind, work, sub-agents, background shells, a to-do list, an
API error, compaction, finished and ended agents. At least two agents open each kind of dialog.
"""

from claude_headspace.clients.claude_code.simulation.steps import (
    Subagent,
    add_todos,
    compact,
    delegate,
    done,
    fail,
    finish_shell,
    finish_todo,
    interrupt,
    leave,
    permission,
    plan,
    prompt,
    question,
    say,
    start_shell,
)
from claude_headspace.clients.claude_code.simulation.tool_calls import bash, edit, failing_bash, grep, read, write
from claude_headspace.clients.simulation import Pause, Profile
from claude_headspace.demo.other_clients import OTHER_CLIENTS
from claude_headspace.demo.schedule import Scenario, ToldScenario

MINUTES = 60.0
OPUS, SONNET, HAIKU = "claude-opus-4-7", "claude-sonnet-5", "claude-haiku-4-5"

EXPIRED_BEFORE = """\
def is_expired(card: Card, today: date) -> bool:
    return card.month > today.month
"""
EXPIRED_AFTER = """\
def is_expired(card: Card, today: date) -> bool:
    \"""Whether a card is past its last valid month. A card is valid until the end of that month.\"""
    return (card.year, card.month) < (today.year, today.month)
"""
REFUNDS = """\
# Refunds

A refund goes to the payment method of the order.

- **Gift cards**: the amount returns to the same gift card.
- **Closed accounts**: the bank rejects the refund. Ask the customer for another account.
"""

CLAUDE_CODE = (
    # Infrastructure, API and billing
    Scenario(
        Profile("able-ant", "infra", "main", OPUS, 61_000),
        elapsed=86,
        past=(
            prompt("Renew the certificates on staging, they expire on Friday."),
            bash("certbot certificates --config-dir ./letsencrypt", "3 certificates, 2 expire in 4 days", 5),
            bash("make -C staging renew", "renewed: shop.test, api.shop.test", 40),
            done("Both certificates are valid until February. The third one is no longer used."),
            Pause(110 * MINUTES),
            prompt("Which of our cron jobs failed last night?"),
            bash("journalctl -u 'cron-*' --since yesterday -p err", "cron-backup: exit 1 at 03:12", 4),
            edit("jobs/backup.sh", "--retries 0", "--retries 3"),
            done("Only the backup: its upload timed out once. It retries three times now."),
            Pause(66 * MINUTES),
        ),
        loop=(
            prompt("The build machine is out of disk space again. Find out what uses it and free some."),
            bash("df -h /", "/dev/sda1  118G  112G  1.2G  99% /", 2),
            bash("du -xhd1 /var | sort -h | tail -5", "61G\t/var/lib/docker\n9.2G\t/var/log", 11),
            say("Docker uses 61 GB, nearly all of it for images without a container. I would remove those."),
            permission(
                bash("docker image prune --all --force", "Total reclaimed space: 54.1GB", 14, "Remove unused images"),
                330,
            ),
            bash("df -h /", "/dev/sda1  118G   58G   55G  52% /", 2),
            done("54 GB are free again. A weekly prune in `jobs/` would prevent this; shall I add it?"),
            Pause(35),
            prompt("Yes, add the weekly prune."),
            write("jobs/prune.timer", "[Timer]\nOnCalendar=weekly\n"),
            permission(bash("systemctl --user enable --now prune.timer", "Created symlink", 3), 150),
            done("`prune.timer` runs every Monday from now on."),
            Pause(30),
        ),
    ),
    Scenario(
        Profile("quiet-lynx", "infra", "terraform-1.9", OPUS, 74_000),
        elapsed=42,
        past=(
            prompt("Move the queue module to Terraform 1.9."),
            read("modules/queue/main.tf"),
            edit("modules/queue/versions.tf", ">= 1.5", ">= 1.9"),
            bash("terraform -chdir=modules/queue validate", "Success! The configuration is valid.", 9),
            done("The queue module validates with 1.9; its plan has no changes."),
            Pause(80 * MINUTES),
        ),
        loop=(
            prompt("Go through every Terraform module and list the unused ones."),
            say("There are 31 modules. I will start three sub-agents and give each a part of them."),
            delegate(
                Subagent(
                    "explorer",
                    "Modules a to h",
                    "`functions` and `bastion-old` are not used.",
                    (grep('module\\s+"(cdn|dns|eks)', "environments", 12), read("modules/eks/main.tf")),
                ),
                Subagent(
                    "explorer",
                    "Modules i to q",
                    "All of i to q are in use.",
                    (read("modules/mailer/main.tf"), bash("terraform state list | grep mailer", "module.mailer", 16)),
                ),
                Subagent(
                    "explorer",
                    "Modules r to z",
                    "`vpc-peering` is only referenced by a commented block.",
                    (grep('module\\s+"(redis|vpc)', "environments", 9), read("modules/vpc-peering/main.tf")),
                ),
            ),
            say("Three candidates. I will check the state of each before I report them."),
            bash("terraform state list | grep -c -e functions -e bastion-old -e vpc-peering", "0", 22),
            done("`functions`, `bastion-old` and `vpc-peering` are unused: no reference, and nothing in the state."),
            Pause(45),
        ),
    ),
    Scenario(
        Profile("nimble-kestrel", "api", "feat/checkout", SONNET, 88_000),
        elapsed=214,
        past=(
            prompt("The checkout accepts expired cards. Fix it and add a test."),
            grep("expires_at", "src/checkout", 5),
            failing_bash("pytest tests/checkout -q", "E   AssertionError: an expired card was charged", 8),
            edit("src/checkout/cards.py", EXPIRED_BEFORE, EXPIRED_AFTER),
            bash("pytest tests/checkout -q", "61 passed in 4.31s", 9),
            done("Expired cards are refused now, with a test for the turn of the year."),
            Pause(95 * MINUTES),
            prompt("Document how refunds work, for support."),
            read("src/checkout/refunds.py"),
            write("docs/refunds.md", REFUNDS),
            done("`docs/refunds.md` explains it on one page, with the two cases that need a person."),
            Pause(64 * MINUTES),
        ),
        loop=(
            prompt("Add integration tests for the checkout."),
            read("src/checkout/service.py"),
            grep("def test_", "tests/checkout", 14),
            say("The checkout has **no** integration tests yet. Before I write them I need one decision."),
            question(
                "Which database should the tests run against?",
                "Database",
                {
                    "PostgreSQL in a container": "As in production; starts 4 s slower.",
                    "SQLite in memory": "Fast; two queries use features that it lacks.",
                    "Both": "SQLite on every push, PostgreSQL at night.",
                },
                480,
            ),
            say("{answer} it is. I write the fixtures first."),
            write("tests/checkout/conftest.py", "import pytest\n"),
            write("tests/checkout/test_flow.py", "def test_a_cart_becomes_an_order(shop): ...\n", 18),
            bash("pytest tests/checkout -q", "73 passed in 12.80s", 15),
            done("Twelve integration tests, on {answer}. They add 8 s to every push."),
            Pause(40),
        ),
    ),
    Scenario(
        Profile("patient-heron", "api", "feat/tokens", OPUS, 200_000),
        elapsed=640,
        past=(
            prompt("How do our sessions work today? Just explain."),
            grep("SessionStore", "src", 8),
            read("src/auth/session.py"),
            done(
                "A random id in a cookie, looked up in Redis on **every** request, valid for 14 days. "
                "Logging out deletes it; changing the password does not."
            ),
            Pause(31 * MINUTES),
        ),
        loop=(
            prompt("Plan the move from sessions to short-lived tokens. No code yet."),
            read("src/auth/session.py"),
            grep("require_login", "src", 47),
            say("47 places require a login, all through one decorator. That makes it easier than I expected."),
            plan(
                "# Tokens instead of sessions\n\n"
                "1. Issue a 10 minute token beside the session cookie\n"
                "2. Let `require_login` accept either, for two releases\n"
                "3. Move the mobile app, then the shop\n"
                "4. Remove the session table and its Redis\n\n"
                "Risk: clients with **cached** cookies are logged out once.",
                1300,
            ),
            write("src/auth/tokens.py", "def issue(user): ...\n", 20),
            edit("src/auth/decorators.py", "session =", "login = request_token(request) or", 14),
            bash("pytest tests/auth -q", "214 passed in 11.82s", 16),
            done("Step 1 is done: tokens are issued beside sessions, and using them is optional."),
            Pause(90),
        ),
    ),
    Scenario(
        Profile("snug-plover", "api", "fix/login-emoji", OPUS, 118_000),
        elapsed=38,
        past=(
            prompt("Why is the login so slow on the test machine?"),
            bash("make profile", "p95 1840 ms: smtplib.SMTP.connect", 72),
            done("Each login waits for the mail server. In production that call is queued, so only tests are slow."),
            Pause(58 * MINUTES),
            prompt("The login page returns 500 when the password has an emoji in it. Fix it and add a test."),
            grep("def verify_password", "src", 1),
            read("src/auth/passwords.py"),
            say("The password is encoded as `latin-1`, which has no emoji."),
            failing_bash(
                "pytest tests/auth -q", "E   UnicodeEncodeError: 'latin-1' codec can't encode '\\U0001f642'", 7
            ),
            edit("src/auth/passwords.py", 'encode("latin-1")', 'encode("utf-8")'),
            say(
                'Fixed by using UTF-8:\n\n```python\ndigest = scrypt(password.encode("utf-8"), salt=salt)\n```\n\n'
                "Old hashes stay valid, since ASCII is the same in both."
            ),
            permission(bash("make migrate-test", "1 migration applied", 9, "Migrate the test database"), 95),
            bash("pytest tests/auth -q", "214 passed in 11.82s", 14),
            done("Passwords can contain any character now. 214 tests pass, three of them new."),
            Pause(7 * MINUTES),
        ),
        loop=(
            prompt("Now the same for names: Zoë and Łukasz should both be able to register."),
            grep("display_name", "src", 11),
            bash("pytest tests/users -q", "96 passed in 6.20s", 95, "Run the tests of the users"),
            edit("src/users/names.py", "isalpha()", "isprintable()", 12),
            bash("npm test -- --watch=false", "Tests: 88 passed, 88 total", 75, "Run the page's tests too"),
            done("Names accept any printable character. They are normalised, so Zoë is always the same name."),
            Pause(12),
            prompt("What about names that only differ in their accents?"),
            failing_bash("pytest tests/users -q -k accents", "E   assert 'zoe' == 'zoë'", 35),
            edit("src/users/models.py", "unique=True", 'unique=True, collation="und-x-icu"', 15),
            bash("pytest tests/users -q", "99 passed in 6.40s", 60),
            done("They are different names, as users expect. The index distinguishes them now."),
            Pause(15),
        ),
    ),
    Scenario(
        Profile("calm-otter", "billing", "fix/vat", OPUS, 212_000),
        elapsed=72,
        past=(
            prompt("VAT is rounded per line; it must be rounded per invoice."),
            grep("round_half_up", "src", 9),
            edit("src/invoice.py", "sum(line.vat for", "round_half_up(sum(line.net * line.rate for"),
            bash("pytest -q", "388 passed in 21.40s", 24),
            done(
                "Rounding happens once per invoice now, with a test for the case from the ticket.\n\n"
                "| | before | after |\n|---|---|---|\n| 3 × 0.333 | 1.00 | 1.00 |\n| 7 × 0.145 | 1.05 | 1.02 |"
            ),
            Pause(100 * MINUTES),
            prompt("Compare the last quarter: which invoices would have been different?"),
            bash("python -m billing.audit --quarter 2026Q3 --dry-run", "1,204 invoices, 37 differ", 130),
            read("reports/2026Q3.csv"),
            done("37 of 1,204, by one cent each. The list is in `reports/2026Q3-vat.csv`."),
            Pause(47 * MINUTES),
        ),
        loop=(
            prompt("Draft a short, friendly letter to the 37 customers. Do not send it."),
            read("reports/2026Q3-vat.csv"),
            write("letters/vat.md", "Dear customer,\n\nwe owe you a cent.\n", 30),
            done("The draft is in `letters/vat.md`: four sentences. It offers to donate the cent."),
            Pause(8),
            compact(64),
            Pause(10),
            prompt("Now check the credit notes in the same way."),
            bash("python -m billing.audit --credit-notes --dry-run", "88 credit notes, 2 differ", 80),
            edit("src/credit.py", "round(", "round_half_up(", 16),
            bash("pytest -q", "391 passed in 22.00s", 28),
            done("Two of 88, both in our favour. Fixed the same way, with a test."),
            Pause(12),
            compact(58),
            Pause(15),
        ),
    ),
    Scenario(
        Profile("sunny-puffin", "billing", "invoices-pdf", SONNET, 71_000),
        elapsed=95,
        past=(
            prompt("Why do some PDFs have no logo?"),
            bash("ls -la templates/logo*", "logo.png -> ../../web/static/logo.png", 1),
            done("The logo is a link into the web repository, which does not exist on the build machine."),
            Pause(150 * MINUTES),
        ),
        loop=(
            prompt("Plan a faster way to create the PDF invoices: 40 minutes a night is too long."),
            read("src/pdf.py"),
            bash("python -m cProfile -s cumtime make_pdfs.py | head", "1204 x 1.9 s: launch_browser", 62),
            say("Each invoice starts its own browser. A shared one would save most of the time."),
            plan(
                "# PDFs in six minutes\n\n1. One browser, a page for each invoice\n2. Four pages at a time\n"
                "3. Fonts from the disk instead of the network\n\nThe invoices look the same as before.",
                300,
            ),
            edit("src/pdf.py", "launch_browser()", "shared_browser()", 28),
            bash("make pdfs", "1204 invoices in 5 min 48 s", 90),
            done("5 min 48 s instead of 40. I compared 50 of them pixel by pixel: they are identical."),
            Pause(60),
        ),
    ),
    # Web page, mobile app and documentation
    Scenario(
        Profile("brisk-marten", "web", "settings-tabs", SONNET, 52_000),
        elapsed=64,
        past=(
            prompt("The price filter loses its value when I go back. Fix that."),
            grep("priceRange", "src", 6),
            edit("src/Filter.svelte", "let range = [0, 500]", "let range = fromUrl('price')"),
            bash("npm test", "Tests: 142 passed", 21),
            done("The filter is part of the URL now, so going back restores it."),
            Pause(77 * MINUTES),
        ),
        loop=(
            prompt("Split the settings page into tabs, keep the tests green."),
            read("src/Settings.svelte"),
            add_todos("Tabs component", "Move the fields", "Keyboard", "Tests"),
            write("src/Tabs.svelte", "<script>let { tabs } = $props();</script>\n", 16),
            finish_todo(),
            edit("src/Settings.svelte", "<form>", "<Tabs>", 30),
            edit("src/Settings.svelte", "</form>", "</Tabs>", 25),
            finish_todo(),
            edit("src/Tabs.svelte", "onclick", "onkeydown", 22),
            finish_todo(),
            bash("npm test", "Tests: 149 passed", 40),
            finish_todo(),
            done("Four tabs, reachable with the arrow keys; each keeps its input. 149 tests pass."),
            Pause(20),
        ),
    ),
    Scenario(
        Profile("golden-trout", "web", "main", SONNET, 24_000),
        elapsed=900,
        past=(
            prompt("Which of our images are larger than 200 KB?"),
            bash("find static -size +200k -name '*.jpg'", "static/hero.jpg\nstatic/team.jpg", 2),
            done("`hero.jpg` (840 KB) and `team.jpg` (310 KB). As AVIF they would be 96 and 41 KB."),
            Pause(140 * MINUTES),
        ),
        loop=(
            prompt("Start the dev server and the mail catcher, then wait."),
            start_shell("npm run dev", "dev server"),
            start_shell("mailpit", "mail catcher"),
            done("Both are running: http://localhost:5173, and the mails at http://localhost:8025."),
            Pause(26 * MINUTES),
            finish_shell("mail catcher"),
            done("The mail catcher has ended; the dev server is still running."),
            Pause(10 * MINUTES),
        ),
    ),
    Scenario(
        Profile("olive-bee", "web", "cart-rename", SONNET, 38_000),
        elapsed=560,
        past=(
            prompt("How many components still use the old button?"),
            grep("<OldButton", "src", 23),
            done("23 components. In 19 of them only the name has to change."),
            Pause(52 * MINUTES),
        ),
        loop=(
            prompt("Rename Basket to Cart everywhere."),
            grep("Basket", "src", 212),
            edit("src/Basket.svelte", "Basket", "Cart", 8),
            fail("rate_limit", "API Error: Request rejected (429) · you have reached your limit, try again later"),
            Pause(14 * MINUTES),
            prompt("Continue."),
            edit("src/lib/basket.ts", "Basket", "Cart", 12),
            fail("server_error", "API Error: 529 · the service is overloaded, try again in a moment"),
            Pause(8 * MINUTES),
        ),
    ),
    Scenario(
        Profile("early-finch", "mobile", "release-4.2", OPUS, 57_000),
        elapsed=70,
        past=(
            prompt("Collect the changes since 4.1 for the release notes."),
            bash("git log --format=%s v4.1..HEAD", "Faster start\nGift cards\nFix the back gesture", 2),
            write("CHANGELOG.md", "## 4.2\n\n- Gift cards\n- Starts in half the time\n"),
            done("84 commits became nine lines, written for the users of the app."),
            Pause(90 * MINUTES),
        ),
        loop=(
            prompt("Translate the new screens, then build the release candidate."),
            grep("TODO_TRANSLATE", "lib/l10n", 18),
            edit("lib/l10n/de.arb", "TODO_TRANSLATE", "Geschenkkarte einlösen", 20),
            edit("lib/l10n/fr.arb", "TODO_TRANSLATE", "Utiliser une carte cadeau", 24),
            bash("flutter build appbundle --release", "Built build/app.aab (24.1MB)", 85, "Build the candidate"),
            question(
                "Who should get the release candidate first?",
                "Rollout",
                {
                    "Our own team": "40 people, today.",
                    "Testers": "1,200 people, from tomorrow on.",
                    "Five percent": "All users, gradually; cannot be undone.",
                },
                240,
            ),
            bash("fastlane candidate", "Uploaded 4.2.0-rc1", 30),
            done("4.2.0-rc1 is being rolled out: {answer}."),
            Pause(30),
        ),
    ),
    Scenario(
        Profile("swift-hawk", "mobile", "offline-cart", SONNET, 94_000),
        elapsed=20,
        past=(
            prompt("Read how the cart is stored and tell me what breaks offline."),
            read("lib/cart/repository.dart"),
            grep("await http", "lib/cart", 6),
            done("Six calls need the network. Without it the cart is empty, although its items are on the disk."),
            Pause(120 * MINUTES),
        ),
        loop=(
            prompt("Keep the cart when the network is down."),
            read("lib/cart/repository.dart"),
            edit("lib/cart/repository.dart", "await http.get", "await cached(http.get", 35),
            bash("flutter test test/cart", "00:14 +37: All tests passed!", 48),
            say("The tests pass. To check it on a device I need the emulator."),
            permission(bash("adb emu network status", "OK", 6, "Check the emulator's network"), 200),
            edit("lib/cart/sync.dart", "retry: 0", "retry: 5", 25),
            bash("flutter test", "00:41 +212: All tests passed!", 70),
            done("The cart works offline. Changes are sent as soon as the network is back."),
            Pause(25),
        ),
    ),
    Scenario(
        Profile("merry-wren", "mobile", "main", HAIKU, 28_000),
        elapsed=100 * MINUTES,
        past=(
            prompt("Update the dependencies."),
            bash("flutter pub upgrade --major-versions", "Changed 14 constraints", 34),
            bash("flutter test", "00:39 +208: All tests passed!", 45),
            done("14 packages are up to date; the tests pass."),
            Pause(6 * MINUTES),
            leave(),
        ),
    ),
    Scenario(
        Profile("quick-elk", "docs", "main", HAIKU, 16_000),
        elapsed=960,
        past=(
            prompt("Check all links in the handbook."),
            bash("lychee handbook/", "214 links, 3 broken", 18),
            edit("handbook/shipping.md", "/help/returns", "/returns", 3),
            interrupt(),
            Pause(9 * MINUTES),
            prompt("Only fix the ones in the shipping chapter."),
            edit("handbook/shipping.md", "/faq", "/help", 3),
            done("The three broken links in `shipping.md` work again."),
            Pause(10 * MINUTES),
        ),
        loop=(
            prompt("Fix the typos in the tutorial."),
            edit("tutorial.md", "recieve", "receive", 4),
            edit("tutorial.md", "seperate", "separate", 4),
            done("Fixed 7 typos in `tutorial.md`. Nothing else changed."),
            Pause(34 * MINUTES),
        ),
    ),
)

SCENARIOS: tuple[Scenario | ToldScenario, ...] = (*CLAUDE_CODE[:4], *OTHER_CLIENTS, *CLAUDE_CODE[4:])
"""All agents. A small demo has one agent of each client, too."""
