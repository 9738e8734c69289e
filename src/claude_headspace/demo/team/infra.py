"""Who looks after the machines. Data only."""

from claude_headspace.demo.steps import Delegates, Done, Errand, Life, Permission, Prompt, Rests, Says
from claude_headspace.demo.team.props import MINUTES, OPUS, bash, chapter, edit, grep, read, write

INFRA = (
    Life(
        name="able-ant",
        project="infra",
        branch="main",
        model=OPUS,
        tokens=61_000,
        since=86,
        past=(
            *chapter(
                "Renew the certificates on staging, they run out on Friday.",
                bash("certbot certificates --config-dir ./letsencrypt", "3 certificates, 2 expire in 4 days", 5),
                bash("make -C staging renew", "renewed: shop.test, api.shop.test", 40),
                Done("Both certificates are renewed until February. The third one is not used any more."),
                then=110 * MINUTES,
            ),
            *chapter(
                "Which of our cron jobs failed last night?",
                bash("journalctl -u 'cron-*' --since yesterday -p err", "cron-backup: exit 1 at 03:12", 4),
                read("infra/jobs/backup.sh"),
                edit("infra/jobs/backup.sh", "--retries 0", "--retries 3"),
                Done("Only the backup: its upload timed out once. It tries three times now."),
                then=66 * MINUTES,
            ),
        ),
        loop=(
            Prompt("The build machine is out of disk again. Find out what takes the room and free some."),
            bash("df -h /", "/dev/sda1  118G  112G  1.2G  99% /", 2),
            bash("du -xhd1 /var | sort -h | tail -5", "61G\t/var/lib/docker\n9.2G\t/var/log", 11),
            Says("Docker holds 61 GB, nearly all of it images that no container uses. I would remove those."),
            Permission(
                bash("docker image prune --all --force", "Total reclaimed space: 54.1GB", 14, "Remove unused images"),
                waits=330,
            ),
            bash("df -h /", "/dev/sda1  118G   58G   55G  52% /", 2),
            Done("54 GB are free again. A weekly prune in `jobs/` would keep it that way; say the word."),
            Rests(35),
            Prompt("Yes, add the weekly prune."),
            write("infra/jobs/prune.timer", "[Timer]\nOnCalendar=weekly\n"),
            Permission(bash("systemctl --user enable --now prune.timer", "Created symlink", 3), waits=150),
            Done("`prune.timer` runs every Monday from now on."),
            Rests(30),
        ),
    ),
    Life(
        name="quiet-lynx",
        project="infra",
        branch="terraform-1.9",
        model=OPUS,
        tokens=74_000,
        since=42,
        past=chapter(
            "Move the queue module to Terraform 1.9.",
            read("infra/modules/queue/main.tf"),
            edit("infra/modules/queue/versions.tf", ">= 1.5", ">= 1.9"),
            bash("terraform -chdir=modules/queue validate", "Success! The configuration is valid.", 9),
            Done("The queue module validates with 1.9; nothing in its plan changes."),
            then=80 * MINUTES,
        ),
        loop=(
            Prompt("Go through every Terraform module and tell me which ones nobody uses."),
            Says("There are 31 modules. I send three explorers, each with a part of them."),
            Delegates(
                (
                    Errand(
                        "explorer",
                        "Modules a to h",
                        (
                            grep('module\\s+"(cdn|dns|eks)', "environments", 12),
                            read("infra/modules/eks/main.tf"),
                            grep("source.*modules/functions", "environments", 0),
                        ),
                        "`functions` and `bastion-old` are used nowhere.",
                    ),
                    Errand(
                        "explorer",
                        "Modules i to q",
                        (
                            grep('module\\s+"queue', "environments", 3),
                            read("infra/modules/mailer/main.tf"),
                            bash(
                                "terraform state list | grep mailer", "module.mailer.aws_ses_domain_identity.main", 16
                            ),
                        ),
                        "All of i to q are in use.",
                    ),
                    Errand(
                        "explorer",
                        "Modules r to z",
                        (
                            grep('module\\s+"(redis|vpc)', "environments", 9),
                            read("infra/modules/vpc-peering/main.tf"),
                        ),
                        "`vpc-peering` is only referenced by a commented block.",
                    ),
                )
            ),
            Says("Three candidates. I check the state of each before I claim anything."),
            bash("terraform state list | grep -c -e functions -e bastion-old -e vpc-peering", "0", 22),
            Done("Nobody uses `functions`, `bastion-old` and `vpc-peering`: no reference, and nothing in the state."),
            Rests(45),
        ),
    ),
)
