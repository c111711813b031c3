import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { readJournal } from '../support/journal.ts';
import { openTestLedger } from '../support/ledger.ts';
import { realisticList } from '../support/realistic-list.ts';
import { volleyInProcess } from '../support/volley.ts';
import { accountEnvironment, accountsYaml, makeWorkspace } from '../support/workspace.ts';

const campaign = (more = '') => `
campaign: outage
account: sandbox
channel: sms
contacts:
  file: contacts.csv
  country: AU${more}
message:
  Message: "Hi [[First Name]], power is off tonight."
  SubAccount: "[[Branch]]"
`;

test('plan and run name the columns that leave a gap in the text of a message', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const opened = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const sandbox = cleanUp.adopt(await startSandbox({}), (it) => it.close());
  const rows = ['0412345671,Ann,5,N,', '0412345672,,,,', '0412345673,Bo,,,Bring water', 'wrong,,,,'];
  const workspace = cleanUp.use(
    await makeWorkspace({
      'accounts.yaml': accountsYaml,
      'campaign.yaml': campaign().replace('off tonight', 'off, [[days|some]] days, [[Note]]'),
      'contacts.csv': ['mobile,First Name,days,Branch,Note', ...rows].join('\n'),
    }),
  );
  const env = { ...accountEnvironment(opened, sandbox) };
  const call = (...words: string[]) => volleyInProcess(words, { cwd: workspace.folder, env });
  const warning =
    '[[First Name]] is empty and has no fallback in 1 row: contacts.csv:3. The text has a gap there; [[First Name|fallback]] fills it';
  const { stdout } = await call('plan', 'campaign.yaml');
  expect(stdout).toContain(`  warning     ${warning}\n`);
  expect(stdout).toContain(
    '[[Note]] is empty and has no fallback in 2 rows: contacts.csv:2, contacts.csv:3.',
  );
  expect(stdout).not.toMatch(/\[\[(days|Branch)\]\] is empty/);
  expect((await call('run', 'campaign.yaml')).stderr).toContain(warning);
});

test('each person in an ordinary list with 75 mistakes is sent to once, over a run, a repetition and a run of fixed contacts', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const opened = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const list = realisticList();
  const workspace = cleanUp.use(
    await makeWorkspace({
      'accounts.yaml': accountsYaml,
      'campaign.yaml': campaign(),
      'contacts.csv': list.csv,
    }),
  );
  const journal = `${workspace.folder}/journal.jsonl`;
  const sandbox = cleanUp.adopt(await startSandbox({ journal }), (it) => it.close());
  const env = { ...accountEnvironment(opened, sandbox) };
  const call = (...words: string[]) => volleyInProcess(words, { cwd: workspace.folder, env });
  const sentTo = async () => (await readJournal(journal)).flatMap(({ recipients }) => recipients).toSorted();

  const titled = await call('plan', 'campaign.yaml');
  expect(titled).toMatchObject({ code: 2, stderr: expect.stringContaining('skipLines') });
  await workspace.write('campaign.yaml', campaign('\n  skipLines: 1'));

  const { code, stdout, stderr } = await call('run', 'campaign.yaml', '--json');
  expect(code, stderr).toBe(0);
  const { run, contacts, recipients } = JSON.parse(stdout);
  expect(contacts).toEqual({ read: 2_539, suppressed: 0, ...list.counts });
  expect(recipients).toMatchObject({ total: list.reached.size, accepted: list.reached.size });
  expect(await sentTo()).toEqual([...list.reached.keys()].toSorted());

  expect(await call('run', 'campaign.yaml')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(run),
  });

  const exported = (await call('report', 'contacts', run, '--state', 'invalid,suppressed')).stdout;
  const [header = [], ...rejected]: string[][] = parse(exported);
  expect(rejected.map(([mobile]) => mobile?.replace(/^'=/, '='))).toEqual(
    list.fixes.map(({ wrong }) => wrong),
  );
  const fixed = rejected.map(([, ...others], index) => [list.fixes[index]?.corrected ?? '', ...others]);
  await workspace.write('fixed.csv', stringify([header, ...fixed]));
  const again = await call('run', 'campaign.yaml', '--contacts', 'fixed.csv', '--json');
  expect(again.code, again.stderr).toBe(0);
  const allNumbers = [...list.reached.keys(), ...list.fixes.map(({ number }) => number)].toSorted();
  expect(await sentTo()).toEqual(allNumbers);

  const billing = await call('billing', 'report', '--by', 'SubAccount', '--json');
  const expected = Map.groupBy(allNumbers, (number) => `B${(Number(number.slice(-6)) - 100_000) % 7}`);
  const billed = JSON.parse(billing.stdout).rows.map((row: Record<string, unknown>) => [
    row['SubAccount'],
    row['recipients'],
  ]);
  expect(Object.fromEntries(billed)).toEqual(
    Object.fromEntries([...expected].map(([branch, numbers]) => [branch, numbers.length])),
  );
});
