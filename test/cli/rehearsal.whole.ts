import { expect, test } from 'vitest';
import { useLedgerScene } from '../support/ledger-scene.ts';
import { accountsYaml, contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

const watched = `${smsCampaignYaml}canary: { recipients: 100, observe: 10m }
guard: { undelivered: { above: 5% } }
`;

const fall = `destinations:
  - { destination: "+61412", undelivered: 40% }
`;

const scene = useLedgerScene(
  {
    'accounts.yaml': accountsYaml,
    'contacts.csv': contactsCsv(600),
    'campaign.yaml': watched,
    'fall.yaml': fall,
    'wrong.yaml': 'rejected: 2%\nundelivered: most\n',
    'elsewhere.yaml': fall.replace('+61412', '+61499'),
  },
  { VOLLEY_ACCOUNTS: 'accounts.yaml', VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9', VOLLEY_SANDBOX_TOKEN: 'any' },
);

const rehearse = (...words: string[]) => scene.command(['plan', 'campaign.yaml', '--simulate', ...words]);

const runs = async (): Promise<number | null> =>
  (await scene.opened.ledger.pool.query('SELECT FROM runs')).rowCount;

test('a rehearsal without former runs says what is assumed, when the canary is promoted, and when the run ends', async () => {
  const { code, stdout, stderr } = await rehearse();
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain(
    'Rehearsal of test (seed 1), in simulated time. Nothing has been sent or written.',
  );
  expect(stdout).toContain('1% undelivered (assumed), 1% unreported (assumed)');
  expect(stdout).toMatch(/the canary is sent \(100 recipients\)/);
  expect(stdout).toMatch(/canary promoted \(100 recipients so far\)/);
  expect(stdout).toMatch(/completed: all are sent \(600 recipients\)/);
  expect(stdout).toMatch(/of 600 recipients: \d+ delivered/);
  expect(await runs()).toBe(0);
});

test('a rehearsal with a given fall of delivery stops while only the canary has been sent', async () => {
  const { code, stdout } = await rehearse('--given', 'fall.yaml', '--json');
  expect(code).toBe(0);
  const { rehearsal, recipients } = JSON.parse(stdout);
  expect(recipients).toBe(600);
  expect(rehearsal.counts.sent).toBeLessThanOrEqual(100);
  expect(rehearsal.steps.at(-2)).toMatchObject({ kind: 'decided', decision: 'guard stopped' });
  expect(rehearsal.steps.at(-1)).toMatchObject({ kind: 'paused' });
  const { stdout: text } = await rehearse('--given', 'fall.yaml');
  expect(text).toMatch(
    /guard stopped \(\d+ recipients so far\)\. The guard found: \d+ of \d+ recipients .*are undelivered/,
  );
});

test.each([
  [['--given', 'wrong.yaml'], /^wrong\.yaml:2:14: "undelivered": expected a share from 0% to 100%/m],
  [
    ['--given', 'elsewhere.yaml'],
    /^elsewhere\.yaml:2:20: The run has no destination "\+61499" with at least 50 recipients\. Its destinations: \+61412\./m,
  ],
  [['--given', 'missing.yaml'], /missing\.yaml.*cannot be read/],
])('bad input is refused with its place: %j', async (words, message) => {
  const { code, stdout, stderr } = await rehearse(...words);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(message);
});

test('--given without --simulate is refused', async () => {
  const { code, stderr } = await scene.command(['plan', 'campaign.yaml', '--given', 'fall.yaml']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--given: It needs --simulate.')]);
});

test('after a run, a rehearsal takes its answers and reports for the next one', async () => {
  await scene.workspace.write('campaign.yaml', smsCampaignYaml);
  const { code } = await scene.command(['run', 'campaign.yaml', '--sandbox']);
  expect(code).toBe(0);
  const { stdout } = await rehearse();
  expect(stdout).toContain('as in 1 former run');
  expect(stdout).not.toContain('assumed');
});
