import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { reportContacts } from '../../src/engine/contact-report.ts';
import { requireSummary } from '../../src/engine/execute-run.ts';
import { reportedState } from '../../src/report/contacts-csv.ts';
import { writeBadRows } from './bad-rows.ts';
import { openTestLedger } from './ledger.ts';
import { accountsYaml, makeWorkspace } from './workspace.ts';

/**
 * Plans a file with 3 % bad rows in a process of its own and expects every bad row with its line and reason, in the ledger
 * and in the result file, and counts that add up.
 *
 * @returns the most memory the process had, in bytes
 */
export async function expectBadRowsListed(rows: number): Promise<number> {
  const opened = await openTestLedger();
  await using workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'campaign.yaml': `campaign: bad-rows
account: sandbox
channel: sms
contacts: { file: contacts.csv, country: AU, countryColumn: country, columns: { Recipient: mobile } }
message: { Message: "Hi [[name]]" }
`,
  });
  try {
    const { rejected } = await writeBadRows(join(workspace.folder, 'contacts.csv'), rows);
    const script = fileURLToPath(new URL('../bench/plan-once.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [script, 'ledger', 'campaign.yaml', opened.url],
      {
        cwd: workspace.folder,
        env: {
          ...process.env,
          VOLLEY_ACCOUNTS: 'accounts.yaml',
          VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
          VOLLEY_SANDBOX_TOKEN: 'x',
        },
      },
    );
    const { peakBytes }: { peakBytes: number } = JSON.parse(stdout);

    const { pool } = opened.ledger;
    const { rows: listed } = await pool.query('SELECT line, reason FROM rejected_contacts ORDER BY line');
    expect(listed).toEqual(rejected);

    const [{ run_id: run } = { run_id: '' }] = (await pool.query('SELECT run_id FROM runs')).rows;
    const duplicate = rejected.filter(({ reason }) => reason === 'duplicate').length;
    const summary = await requireSummary(opened.context, run);
    expect(summary.contacts).toEqual({
      read: rows,
      invalid: rejected.length - duplicate,
      duplicate,
      suppressed: 0,
    });
    expect(summary.recipients.total).toBe(rows - rejected.length);

    await reportContacts(opened.context, run, async ({ rows: batches }) => {
      const reported: (typeof rejected)[number][] = [];
      let count = 0;
      let last = 0;
      for await (const batch of batches) {
        for (const row of batch) {
          expect(row.line).toBeGreaterThan(last);
          last = row.line;
          count++;
          const state = reportedState(row);
          if (state === 'invalid' || state === 'duplicate') reported.push({ line: row.line, reason: state });
          else expect(state).toBe('pending');
        }
      }
      expect(count).toBe(rows);
      expect(reported).toEqual(rejected);
    });
    return peakBytes;
  } finally {
    await opened.close();
  }
}
