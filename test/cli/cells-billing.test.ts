import { Big } from 'big.js';
import { beforeAll, expect, test } from 'vitest';
import type { BillingDimension } from '../../src/ledger/billing/report.ts';
import { addUp, recount } from '../support/billing-recount.ts';
import { reportRecipients } from '../support/billing-reports.ts';
import { type CellName, cellNames, useCells } from '../support/cells-scene.ts';

const scene = useCells();

const rates = {
  currency: 'NZD',
  tariffs: [[{ price: '0.08', tax: '0.15', from: null, until: null }]],
} as const;
const payers = [
  { SubAccount: 'North', ChargeCode: 'A-1' },
  { SubAccount: 'Œuvre' },
  {},
  { ChargeCode: 'b-2' },
];

/** Prices that no sum of floating-point numbers gives exactly. */
const prices: Readonly<Record<CellName, string>> = { north: '0.1', south: '0.2', west: '0.00000003' };
const accounts = { north: 'alfa', south: 'charlie', west: 'delta' } as const;

beforeAll(async () => {
  for (const cell of cellNames) {
    const createdAt = new Date('2026-11-02T08:00Z');
    const run = `261102-${cell}`.slice(0, 12);
    const campaign = cell === 'west' ? 'bills' : 'outage';
    const world = await scene.send(cell, {
      run,
      account: accounts[cell],
      campaign,
      createdAt,
      rates,
      payers,
    });
    const report = { outcome: 'delivered', units: '1.5', price: prices[cell] } as const;
    const reports = [0, 3, 6].map((recipient) => ({ ...report, recipient }));
    await reportRecipients(world.ledger.pool, reports, createdAt, accounts[cell]);
  }
});

type Row = Record<string, string | number | null>;
type Report = { readonly subtitle: string[]; readonly rows: Row[]; readonly totals: Row[] };

async function billing(...words: string[]): Promise<Report> {
  const { code, stdout, stderr } = await scene.command(['billing', 'report', '--json', ...words]);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

test.each<readonly BillingDimension[]>([['SubAccount', 'ChargeCode'], ['campaign'], ['account', 'month']])(
  'billing over cells by %s and %s equals a recount of all requests, exactly',
  async (...by) => {
    const { rows, totals } = await billing('--by', by.join(','));
    const recipients = (
      await Promise.all(cellNames.map((cell) => recount(scene.ledgers[cell].ledger.pool, 'UTC')))
    ).flat();
    const counted = addUp(recipients, by);
    expect(rows).toHaveLength(counted.size);
    let price = new Big(0);
    for (const figures of counted.values()) price = price.plus(figures.price);
    expect([
      rows.reduce((sum, row) => sum.plus(row['price'] ?? 0), new Big(0)).toFixed(),
      totals[0]?.['price'],
    ]).toEqual([price.toFixed(), '0.90000009']);
    expect(totals).toMatchObject([{ recipients: 30, accepted: 30, delivered: 9, currency: 'NZD' }]);
  },
);

test('billing over cells adds up what one payer has in several cells, in the order of one ledger', async () => {
  const { rows, subtitle } = await billing('--by', 'SubAccount');
  expect(rows.map(({ SubAccount, recipients, price }) => [SubAccount, recipients, price])).toEqual([
    ['North', 9, '0.30000003'],
    ['Œuvre', 9, '0.30000003'],
    ['(none)', 12, '0.30000003'],
  ]);
  expect(subtitle).toContain('cells: north, south, west');
});

test('a filter is known if one cell knows it, and unknown if none does', async () => {
  expect((await billing('--campaign', 'bills', 'outage')).totals).toMatchObject([{ recipients: 30 }]);
  const unknown = await scene.command(['billing', 'report', '--campaign', 'bils']);
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    'campaign bils: There is no run of this campaign. Did you mean "bills"? There are bills, outage.\n',
  ]);
});

test('billing without a cell that is away says so in the report, and ends with 3', async () => {
  const { code, stdout, stderr } = await scene.command(['billing', 'report', '--json'], { away: ['south'] });
  expect([code, stderr]).toEqual([3, expect.stringContaining('cell south: It is away')]);
  const { subtitle, totals }: Report = JSON.parse(stdout);
  expect(subtitle).toContain('without the cells that are away: south');
  expect(totals).toMatchObject([{ recipients: 20, price: '0.30000009' }]);
});

test('volley report campaigns lists the runs of all cells and adds them up', async () => {
  const { code, stdout } = await scene.command(['report', 'campaigns', '--json']);
  const { rows, totals }: Report = JSON.parse(stdout);
  expect([code, rows.map(({ cell }) => cell).sort()]).toEqual([0, ['north', 'south', 'west']]);
  expect(totals).toMatchObject([
    { recipients: 30, delivered: 9, deliveredShare: '30.0', price: '0.90000009' },
  ]);
});

test('volley report recipient finds a person in all cells, and names their cells', async () => {
  const { code, stdout } = await scene.command(['report', 'recipient', '+61400000002', '--json']);
  const found = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([code, found.map(({ cell }) => cell).sort()]).toEqual([0, ['north', 'south', 'west']]);
  const text = await scene.command(['report', 'recipient', '+61400000002'], { away: ['west'] });
  expect([text.code, text.stdout]).toEqual([3, expect.stringContaining('  cell       south')]);
});

test('volley report recipient does not say that a person is unknown while a cell is away', async () => {
  const words = ['report', 'recipient', '+61499999999'];
  expect((await scene.command(words)).code).toBe(2);
  expect(await scene.command(words, { away: ['west'] })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('cell west: It is away'),
  });
});

test('volley report recipient --all prints one object a cell', async () => {
  const { code, stdout } = await scene.command([
    ...['report', 'recipient', '+61400000002', '--all', '--json'],
  ]);
  const found = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([code, found.map(({ cell, recipients }) => [cell, recipients.length])]).toEqual([
    0,
    cellNames.map((cell) => [cell, 1]),
  ]);
});
