import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'csv-parse';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { formatReason } from '../../../src/domain/reasons.ts';
import { requireSummary } from '../../../src/engine/runs/find-run.ts';
import { rejectionDetail } from '../../../src/ledger/reasons.ts';
import { rejectionDetailOfRow } from '../../../src/ledger/runs/rejected-contacts.ts';
import { scaled } from '../../support/examples.ts';
import { openTestLedger, type TestLedger } from '../../support/ledger.ts';
import { type ProcessOptions, volley } from '../../support/volley.ts';
import { accountsYaml, makeWorkspace } from '../../support/workspace.ts';
import {
  type ExpectedRejection,
  type InvalidContactFile,
  mobileOf,
  writeInvalidContactFile,
} from './invalid-contact-file.ts';

const mebibyte = 1024 * 1024;
const planned = scaled(5_000, 1_000_000);

test(`every broken row of ${planned} is listed with its line and problem, the counts add up, and it takes at most 256 MiB`, async () => {
  const { plan, report } = await expectRejectedContactsListed(planned);
  expect(plan).toBeLessThanOrEqual(256 * mebibyte);
  expect(report).toBeLessThanOrEqual(256 * mebibyte);
});
/** In bytes. */
type PeakMemory = { readonly plan: number; readonly report: number };

/**
 * Plans a file with 3 % bad rows in another process. Expects each row's line, column, reason and detail in the
 * ledger and the result files, and matching counts.
 */
async function expectRejectedContactsListed(rows: number): Promise<PeakMemory> {
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
  const path = (name: string): string => join(workspace.folder, name);
  const surroundings = {
    cwd: workspace.folder,
    env: {
      DATABASE_URL: opened.url,
      VOLLEY_ACCOUNTS: 'accounts.yaml',
      VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
      VOLLEY_SANDBOX_TOKEN: 'x',
    },
  };
  try {
    const written = await writeInvalidContactFile(path('contacts.csv'), rows);
    const script = fileURLToPath(new URL('../../bench/plan-once.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [script, 'ledger', 'campaign.yaml', opened.url],
      { ...surroundings, env: { ...process.env, ...surroundings.env } },
    );
    const { peakBytes: plan } = z.object({ peakBytes: z.number() }).parse(JSON.parse(stdout));

    const run = await expectInLedger(opened, written);
    const report = Math.max(
      await writeReport(
        ['contacts', run, '--state', 'invalid,duplicate,suppressed', '--out', 'rejected.csv'],
        surroundings,
      ),
      await writeReport(['contacts', run, '--out', 'all.csv'], surroundings),
    );
    await expectInResultFile(path('rejected.csv'), written, ({ reason }) => reason !== undefined);
    await expectInResultFile(path('all.csv'), written, () => true);
    return { plan, report };
  } finally {
    await opened.close();
  }
}

/** @returns the run's id */
async function expectInLedger(
  { ledger, context }: TestLedger,
  { rows, rejected }: InvalidContactFile,
): Promise<string> {
  const { rows: runs } = await ledger.pool.query<{ run: string }>('SELECT run_id AS run FROM runs');
  expect(runs).toHaveLength(1);
  const run = runs[0]?.run ?? '';
  const { rows: listed } = await ledger.pool.query<{ readonly detail: unknown }>(
    `SELECT x.line, x.reason, x.column_name AS column, ${rejectionDetailOfRow('x', 'x.run_id')} AS detail FROM rejected_contacts x ORDER BY line`,
  );
  expect(listed.map((row) => ({ ...row, detail: formatReason(rejectionDetail(row.detail)) }))).toEqual(
    rejected,
  );

  const duplicate = rejected.filter(({ reason }) => reason === 'duplicate').length;
  const summary = await requireSummary(context, run);
  expect(summary.contacts).toEqual({
    read: rows,
    invalid: rejected.length - duplicate,
    duplicate,
    suppressed: 0,
  });
  expect(summary.recipients.total).toBe(rows - rejected.length);
  return run;
}

/** Prints the peak memory in KiB when the process ends. */
const printPeakMemory = `data:text/javascript,process.on('exit',()=>console.error(process.resourceUsage().maxRSS))`;

/** @returns the peak memory in bytes */
async function writeReport(words: readonly string[], surroundings: ProcessOptions): Promise<number> {
  const { code, stdout, stderr } = await volley(['report', ...words], {
    ...surroundings,
    nodeFlags: ['--import', printPeakMemory],
  });
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/(?:^|\n)\d+\n$/),
  });
  return Number(/\d+\n$/.exec(stderr)?.[0]) * 1024;
}

/** The predictable part of a row. */
type ResultRow = {
  readonly line: number;
  /** As in the contact file; absent for bad rows. */
  readonly mobile?: string;
  readonly address: string;
  readonly reason?: ExpectedRejection['reason'];
  readonly column: string;
  readonly detail: string;
};

/** Expects exactly these rows, in the order of the contact file. */
async function expectInResultFile(
  path: string,
  written: InvalidContactFile,
  isExpected: (row: ResultRow) => boolean,
): Promise<void> {
  const expected = rowsOf(written, isExpected);
  const wrong: unknown[] = [];
  for await (const record of createReadStream(path).pipe(parse({ columns: true }))) {
    const found = resultRow.parse(record);
    const { value: expectedRow } = expected.next();
    // One `expect` per row would take too long.
    if (!expectedRow || !isSame(found, expectedRow)) wrong.push({ found, meant: expectedRow });
    if (wrong.length > 20) break;
  }
  expect(wrong).toEqual([]);
  expect(expected.next().done, `${path} has all rows`).toBe(true);
}

function* rowsOf(
  { lines, rejected }: InvalidContactFile,
  isExpected: (row: ResultRow) => boolean,
): Generator<ResultRow, void, undefined> {
  let bad = 0;
  for (const [row, line] of lines.entries()) {
    const rejection = rejected[bad]?.line === line ? rejected[bad++] : undefined;
    const found = rejection ? { ...rejection, address: '' } : goodRow(row, line);
    if (isExpected(found)) yield found;
  }
}

function goodRow(row: number, line: number): ResultRow {
  const mobile = mobileOf(row);
  return { line, mobile, address: `+61${mobile.slice(1)}`, column: '', detail: '' };
}

const resultRow = z.object({
  mobile: z.string(),
  'Volley Line': z.coerce.number(),
  'Volley State': z.string(),
  'Volley Column': z.string(),
  'Volley Reason': z.string(),
  'Volley Address': z.string(),
});

function isSame(found: z.infer<typeof resultRow>, meant: ResultRow): boolean {
  return (
    found['Volley Line'] === meant.line &&
    found['Volley State'] === (meant.reason ?? 'pending') &&
    found['Volley Column'] === meant.column &&
    found['Volley Reason'] === meant.detail &&
    found['Volley Address'] === meant.address &&
    (meant.mobile === undefined || found.mobile === meant.mobile)
  );
}
