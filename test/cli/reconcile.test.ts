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
  const period = ['--from', '2026-11', '--to', '2026-12', '--time-zone', 'Pacific/Auckland'];
  return scene.command(['billing', 'reconcile', '--invoice', 'invoice.csv', ...period, ...words]);
}

test('volley billing reconcile ends with exit code 0 when everything agrees', async () => {
  const { code, stdout } = await reconcile(sent.map((one) => invoiceRow(one)));
  expect(stdout).toMatch(/Agrees +│ 2 lines .* 0\.10 │ +0\.10 │ +0\.00/);
  expect(code).toBe(0);
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
