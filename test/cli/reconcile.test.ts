import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { type Invoiced, invoicedRun, invoiceHeader, invoiceRow } from '../support/invoices.ts';
import { useLedgerScene } from '../support/ledger-scene.ts';
import type { Ended } from '../support/volley.ts';

const scene = useLedgerScene();
let sent: readonly Invoiced[];
beforeAll(async () => {
  sent = await invoicedRun(scene.opened, ['accepted']);
});

async function reconcile(rows: readonly string[], ...words: string[]): Promise<Ended> {
  await scene.workspace.write('invoice.csv', [invoiceHeader, ...rows].join('\n'));
  return reconcileAgain(...words);
}

async function reconcileAgain(...words: string[]): Promise<Ended> {
  const period = ['--from', '2026-11', '--to', '2026-12', '--time-zone', 'Pacific/Auckland'];
  return scene.command(['billing', 'reconcile', '--invoice', 'invoice.csv', ...period, ...words]);
}

test('volley billing reconcile ends with exit code 0 when everything agrees', async () => {
  const { code, stdout } = await reconcile(sent.map((one) => invoiceRow(one)));
  expect(stdout).toMatch(
    /The invoice agrees with the ledger. The invoice: 0\.10. Here: 0\.10. Difference: 0\.00\./,
  );
  expect(stdout).toMatch(/│ Agrees +│ +2 │/);
  expect(code).toBe(0);
});

test('volley billing reconcile prints the sum of each finding before the lines, what costs most first', async () => {
  const [first, second] = sent.map((one) => invoiceRow(one));
  const { stdout, code } = await reconcile([
    first ?? '',
    first ?? '',
    `${sent[1]?.messageId},${sent[1]?.address},0.01,1`,
  ]);
  const titles = [
    'Finding',
    'Lines',
    'Charged too much',
    'Charged too little',
    'Not known',
    'Difference',
    'What to do',
  ];
  expect(stdout).toContain('2 differences. The invoice: 0.11. Here: 0.10. Difference: 0.01.');
  const cellsOf = (start: string): readonly string[] | undefined =>
    stdout
      .split('\n')
      .find((line) => line.startsWith(`│ ${start}`))
      ?.split('│')
      .slice(1, -1)
      .map((cell) => cell.trim());
  expect(cellsOf('Finding')).toEqual(titles);
  expect(cellsOf('twice')).toEqual([
    'twice in the invoice',
    '1',
    '0.05',
    '0.00',
    '0',
    '0.05',
    'Do not pay it twice.',
  ]);
  expect(cellsOf('Total')).toEqual(['Total', '3', '0.05', '-0.04', '0', '0.01', '']);
  expect(stdout.indexOf('Total')).toBeLessThan(stdout.indexOf('already on line 2'));
  expect(code).toBe(3);
  const only = await reconcile(
    [first ?? '', first ?? '', second ?? ''],
    '--finding',
    'twice in the invoice',
    '--json',
  );
  const { rows, totals } = JSON.parse(only.stdout);
  expect(rows).toMatchObject([{ kind: 'twice in the invoice', effect: 'charged too much', line: 3 }]);
  expect(totals).toMatchObject([
    { kind: 'Total twice in the invoice' },
    { kind: 'Total', difference: '0.05' },
  ]);
});

test('volley billing reconcile keeps the result once with its month when asked to, also by two commands at once', async () => {
  const rows = sent.slice(1).map((one) => invoiceRow(one));
  expect((await reconcile(rows)).code).toBe(3);
  const audit = ['audit', '--action', 'invoice kept', '--json'];
  expect(JSON.parse((await scene.command(audit)).stdout)).toMatchObject({ rows: [] });
  const both = await Promise.all([reconcileAgain('--keep'), reconcileAgain('--keep')]);
  expect(both).toMatchObject([{ code: 3 }, { code: 3 }]);
  const digest = createHash('sha256')
    .update([invoiceHeader, ...rows].join('\n'))
    .digest('hex');
  const kept = JSON.parse((await scene.command(audit)).stdout).rows;
  expect(kept).toMatchObject([{ subject: '2026-11', outcome: 'done' }]);
  expect(kept[0].details).toContain('charged too little: -0.05');
  expect(kept[0].details).toContain('findings: 1 not in the invoice, 1 agrees');
  expect(kept[0].details).toContain(`sha256: ${digest}`);
});

test('volley billing reconcile prints eight columns in a table, names the others, and prints chosen ones', async () => {
  const rows = sent.slice(1).map((one) => invoiceRow(one));
  const { stdout, stderr } = await reconcile(rows);
  const titlesIn = (text: string) =>
    text
      .split('\n')
      .filter((line) => /^│ (Finding|MessageID)/.test(line))
      .at(-1)
      ?.split('│')
      .slice(1, -1)
      .map((title) => title.trim());
  expect(titlesIn(stdout)).toEqual([
    'Finding',
    'MessageID',
    'Recipient',
    'Invoice price',
    'Price here',
    'Difference',
    'What is known',
    'What it means',
  ]);
  expect(stderr).toContain('Not shown: Run, Request, SubAccount,');
  const chosen = await reconcile(rows, '--columns', 'messageid, Price here');
  expect(titlesIn(chosen.stdout)).toEqual(['MessageID', 'Price here']);
  expect(chosen.stderr).not.toContain('Not shown');
  const csv = await reconcile(rows, '--columns', 'chargeCode,difference', '--format', 'csv');
  expect(csv.stdout).toBe('ChargeCode,Difference\nC1,-0.05\n');
  const wrong = await reconcile(rows, '--columns', 'chargecod');
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toContain('Did you mean "chargeCode"?');
});

test('volley billing reconcile prints a difference in the chosen format and ends with exit code 3', async () => {
  const { code, stdout } = await reconcile(
    sent.slice(1).map((one) => invoiceRow(one)),
    '--json',
  );
  const { rows } = JSON.parse(stdout);
  expect(rows).toMatchObject([{ kind: 'not in the invoice', recipient: sent[0]?.address, price: '0.05' }]);
  expect(code).toBe(3);
});

test('volley billing reconcile prints nothing and ends with exit code 2 when a line cannot be read', async () => {
  const { code, stdout, stderr } = await reconcile(['Abc,+6421,free,1']);
  expect(stderr).toContain('invoice.csv:2:3: "free" is no price');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});

test('volley billing reconcile accepts names for any number of columns, and refuses unknown columns', async () => {
  const named = ['--column', 'MessageID=MessageID', 'price=Price', '--column', 'Units=Units'];
  expect(
    await reconcile(
      sent.map((one) => invoiceRow(one)),
      ...named,
    ),
  ).toMatchObject({ code: 0 });
  const { code, stderr } = await reconcile([], '--column', 'Cost=Price');
  expect(stderr).toContain('expected MessageID, Destination, Price, Units or Date');
  expect(code).toBe(2);
});
