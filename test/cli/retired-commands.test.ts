import { beforeEach, expect, test } from 'vitest';
import { retiredCommands } from '../../src/cli/retired-commands.ts';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import { contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

/** A former way, its one line, and the way that replaces it. */
type Retired = readonly [former: string, says: string, now: string];

const ways: readonly Retired[] = [
  [
    'check campaign.yaml',
    'volley check works for one more version. Use `volley plan <campaign> --check`.',
    'plan campaign.yaml --check',
  ],
  [
    'check campaign.yaml --json',
    'volley check works for one more version. Use `volley plan <campaign> --check`.',
    'plan campaign.yaml --check --json',
  ],
  [
    'reports list --json',
    'volley reports list works for one more version. Use `volley delivery-reports`.',
    'delivery-reports list --json',
  ],
  [
    'report billing --by run --format ndjson',
    'volley report billing works for one more version. Use `volley billing report`.',
    'billing report --by run --format ndjson',
  ],
  [
    'report reconcile --invoice invoice.csv --format csv',
    'volley report reconcile works for one more version. Use `volley billing reconcile`.',
    'billing reconcile --invoice invoice.csv --format csv',
  ],
  [
    'report contacts latest --rejected',
    '--rejected works for one more version. Use `--state invalid,suppressed`.',
    'report contacts latest --state invalid,suppressed',
  ],
  [
    'report contacts latest --reasons invalid',
    '--reasons <reasons> works for one more version. Use `--state <reasons>`.',
    'report contacts latest --state invalid',
  ],
  [
    'run --only failed --of latest',
    '--only <states> works for one more version. Use `volley rerun <run> --state <states>`.',
    'rerun latest --state failed',
  ],
  [
    'audit --who nobody@nowhere --format ndjson',
    '--who <name> works for one more version. Use `--by <name>`.',
    'audit --by nobody@nowhere --format ndjson',
  ],
  [
    'rerun latest --only failed',
    '--only <states> works for one more version. Use `--state <states>`.',
    'rerun latest --state failed',
  ],
  ...[
    ['audit', '--format ndjson'],
    ['delivery-reports list', '--json'],
    ['delivery-reports missing', '--json'],
  ].map(
    ([command, form]): Retired => [
      `${command} --run latest ${form}`,
      '--run <run> works for one more version. Use the argument `<run>`.',
      `${command} latest ${form}`,
    ],
  ),
  [
    'runs --zone Asia/Kolkata',
    '--zone <zone> works for one more version. Use `--time-zone <zone>`.',
    'runs --time-zone Asia/Kolkata',
  ],
  [
    'schedule next .',
    '[folder] works for one more version. Use `--campaigns <folder>`.',
    'schedule next --campaigns .',
  ],
];

const scene = useSandboxScene({
  'campaign.yaml': smsCampaignYaml,
  'contacts.csv': `${contactsCsv(2)}no number,Eve,A,eve@example.com\n`,
  'invoice.csv': 'MessageID,Recipient,Price\n',
});

let isSent = false;

/** One run for all tests, in the ledger that they share. */
beforeEach(async () => {
  if (!isSent) await scene.command(['run', 'campaign.yaml']);
  isSent = true;
});

test.each(ways)(
  'volley %s works as before, and says what to use now in one line of standard error',
  async (former, says, now) => {
    const [before, after] = [await scene.command(former.split(' ')), await scene.command(now.split(' '))];
    expect({ code: before.code, stdout: before.stdout }).toEqual({ code: after.code, stdout: after.stdout });
    expect(before.stderr).toBe(`${says}\n${after.stderr}`);
  },
);

test('every retired command is tested here', () => {
  const untested = Object.keys(retiredCommands).filter(
    (path) => !ways.some(([former]) => former.startsWith(`${path} `)),
  );
  expect(untested).toEqual([]);
});

test.each([
  ['', /^ {2}(check|reports|--zone)\b/m],
  ['report', /^ {2}(billing|reconcile)\b/m],
  ['report contacts', /--rejected|--reasons/],
  ['run', /--only/],
  ['rerun', /--only/],
  ['audit', /--who|--run/],
  ['delivery-reports list', /--run/],
  ['schedule next', /\[folder\]/],
])('the help of volley %s shows no retired way', async (path, retired) => {
  const { stdout } = await scene.command([...path.split(' ').filter(Boolean), '--help']);
  expect(stdout).toContain('Usage: volley');
  expect(stdout).not.toMatch(retired);
});

test('volley resume of a run that is over says that volley status shows it, and ends with the same exit code', async () => {
  const resumed = await scene.command(['resume', 'latest', '--json']);
  expect(resumed.stderr).toMatch(
    /nothing left to send\. `volley status \S+ --exit-status` shows it; resume does so for one more version\.\n/,
  );
  const status = await scene.command(['status', 'latest', '--exit-status', '--json']);
  expect([resumed.code, JSON.parse(resumed.stdout).run]).toEqual([
    status.code,
    JSON.parse(status.stdout).run,
  ]);
});
