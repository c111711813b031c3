import { beforeAll, describe, expect, test } from 'vitest';
import { reportContacts } from '../../src/engine/reporting/contact-report.ts';
import { useLedgerScene } from '../support/ledger-scene.ts';
import { dumpOf, oldCampaign, oldContacts, planOldRun, secret } from '../support/purges.ts';
import type { Ended } from '../support/volley.ts';
import { accountsYaml } from '../support/workspace.ts';

/** One run with two recipients in one request: Xanthippe and Carl. Zebedee has a request and an envelope alone. */
const scene = useLedgerScene(
  { 'accounts.yaml': accountsYaml, 'contacts.csv': oldContacts, 'campaign.yaml': oldCampaign },
  {
    VOLLEY_HASH_KEY: secret,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
    VOLLEY_SANDBOX_TOKEN: 'x',
  },
);
let run: string;
beforeAll(async () => {
  run = await planOldRun(scene.opened, 10);
});

const volley = (...words: string[]): Promise<Ended> => scene.command(words);

const erase = (address: string, ...words: string[]) =>
  volley('erase', address, '--country', 'AU', '--reason', 'asked us to', ...words);
const all = async (address: string) => {
  const { code, stdout } = await volley('report', 'recipient', address, '--country', 'AU', '--all', '--json');
  expect(code).toBe(0);
  return JSON.parse(stdout);
};
const keptRows = () =>
  reportContacts(scene.opened.context, run, async ({ rows }) => {
    const found: string[] = [];
    for await (const batch of rows) for (const row of batch) found.push(`${row.line} ${row.values.join()}`);
    return found;
  });
const bill = async () => {
  const { rows, totals } = JSON.parse((await volley('billing', 'report', '--json')).stdout);
  return { rows, totals };
};

describe('volley report recipient --all', () => {
  test('it gives contact rows, rendered messages, reports, prices, suppressions and audit entries', async () => {
    const found = await all('0412345671');
    expect(found.contactRows.map(({ line }: { line: number }) => line)).toEqual([2, 6]);
    expect(found.contactRows[0]).toMatchObject({
      run,
      file: 'contacts.csv',
      values: { mobile: '0412345671', name: 'Zebedee', ref: 'reference-77' },
    });
    expect(found.recipients).toHaveLength(1);
    expect(found.recipients[0]).toMatchObject({
      run,
      price: '0.05',
      message: {
        fields: { Message: 'Dear Zebedee, quagmire reference-77', Reference: 'plumbago reference-77' },
      },
    });
    expect(found.recipients[0].reports.map(({ state }: { state: string }) => state)).toEqual([
      'applied',
      'inbound',
    ]);
    expect(found.audit.map(({ action }: { action: string }) => action)).toContain('run planned');
    const suppressed = await all('0412345674');
    expect(suppressed.suppressions).toMatchObject([{ channel: 'sms', source: 'reply' }]);
    expect(suppressed.contactRows).toHaveLength(1);
    expect((await all('0412345679')).unmatchedReports).toHaveLength(1);
  });

  test('as text it has each kind of data under its title', async () => {
    const { stdout } = await volley('report', 'recipient', '+61412345672', '--all');
    expect(stdout).toContain(
      `Rows of contact files\n  run ${run}, contacts.csv line 3: mobile: 0412 345 672; name: Xanthippe; ref: r`,
    );
    expect(stdout).toContain('  Message: Dear Xanthippe, quagmire r');
    expect(stdout).toContain('Suppressions\nnone');
  });
});

describe('volley erase', () => {
  test('--dry-run says what would go, and erases nothing', async () => {
    const before = await dumpOf(scene.opened.ledger.pool);
    const { code, stdout } = await erase('0412 345 672', '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toContain(
      'To be erased: one person (runs: 1, recipients: 1, rows of contact files: 1, raw delivery reports: 1).',
    );
    expect(await dumpOf(scene.opened.ledger.pool)).toBe(before);
  });

  test('a person leaves every table, and the other recipient of the request and the bill stay as they were', async () => {
    const before = await bill();
    const carl = await all('0412345673');
    const { code, stdout, stderr } = await erase('0412 345 672');
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toContain('Erased: one person (runs: 1, recipients: 1, rows of contact files: 1');
    const dump = await dumpOf(scene.opened.ledger.pool);
    for (const text of ['412345672', '412 345 672', 'xanthippe']) expect(dump).not.toContain(text);
    expect(await keptRows()).toEqual([
      '2 0412345671,Zebedee,reference-77',
      '4 0412345673,Carl,r',
      '5 not-a-number,Dora,r',
      '6 0412345671,Zebedee,r',
      '7 0412345674,Eve,r',
    ]);
    expect(await all('0412345673')).toEqual(carl);
    expect(await bill()).toEqual(before);
  });

  test('afterwards nothing is found but the suppression, and a new run of the list leaves the person out', async () => {
    const found = await all('0412345672');
    expect(found).toMatchObject({ contactRows: [], recipients: [], unmatchedReports: [] });
    expect(found.suppressions.map(({ channel }: { channel: string }) => channel)).toEqual([
      'fax',
      'sms',
      'tts',
      'voice',
    ]);
    const { stdout, stderr } = await volley('plan', 'campaign.yaml');
    expect(stderr).toBe('');
    expect(stdout).toContain('2 suppressed');
  });

  test('a person with an envelope alone, and with a rejected row, leaves every table too', async () => {
    expect(await erase('0412345671')).toMatchObject({ code: 0 });
    const dump = await dumpOf(scene.opened.ledger.pool);
    for (const text of ['412345671', 'reference-77', 'dear zebedee']) expect(dump).not.toContain(text);
    expect(await keptRows()).toEqual(['4 0412345673,Carl,r', '5 not-a-number,Dora,r', '7 0412345674,Eve,r']);
  });

  test('the audit trail says that a person was erased and why, without the address', async () => {
    const { stdout } = await volley('audit', '--action', 'purged', '--json');
    expect(stdout).toContain('one person');
    expect(stdout).toContain('asked us to');
    expect(stdout).not.toMatch(/4123456/);
  });

  test('a run that has not ended is named and left alone, and the exit code is 3', async () => {
    await scene.opened.ledger.pool.query(
      'DELETE FROM fingerprints; DELETE FROM hashed_suppressions; DELETE FROM hash_key',
    );
    const other = await planOldRun(scene.opened, 10);
    await scene.opened.ledger.pool.query(
      `UPDATE runs SET state = 'running', finished_at = NULL WHERE run_id = '${other}'`,
    );
    const { code, stdout, stderr } = await erase('0412345673');
    expect(code).toBe(3);
    expect(stderr).toContain(`Run ${other} still has the person: it has not ended`);
    expect(stdout).toContain(`Runs left alone: ${other}.`);
    expect((await all('0412345673')).recipients.map(({ run }: { run: string }) => run)).toEqual([other]);
  });
});
