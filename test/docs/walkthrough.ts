/** Lines that the walkthrough does not execute, each with the reason. */
export const notRun: readonly (readonly [line: RegExp, reason: string])[] = [
  [
    /^npm (ci|run|test|install)\b/,
    'installs packages, or is what runs this test; the demo has tests of its own',
  ],
  [/^(useradd|install|cp|systemctl) /, 'changes the machine, as root'],
  [/^\(set -a; \. \/etc\/volley/, 'reads a file of the machine, as root'],
  [/^podman /, 'needs a container engine, and an image'],
  [/^volley [a-z ]+ latest\b/, 'the name `latest` is being made'],
  [/^PATH=/, 'a line of a crontab'],
  [/^30 1 \* \* \*/, 'cron runs it at night'],
];

/** Lines that end with another exit code than 0, each with the reason. */
export const endsOtherwise: readonly (readonly [line: RegExp, codes: readonly number[], reason: string])[] = [
  [/--account main --out/, [2], 'the account has no run yet'],
  [/^(npx --no-install )?volley approve /, [2], 'the run waits for no approval'],
  [/^volley run campaigns\/first.yaml$/, [2], 'README has sent it'],
  [/--only failed,unknown/, [2], 'every recipient was reached'],
  [/--look-up/, [2], 'the account has no status look-up'],
  [/--request 17 /, [2], 'the request is not in doubt'],
  [
    /^(npx --no-install )?volley report reconcile /,
    [0, 3],
    'the invoice has nothing of the run, if it was sent in that month',
  ],
  [/^(npx --no-install )?volley billing close /, [0, 2], 'the month may not be over'],
];
