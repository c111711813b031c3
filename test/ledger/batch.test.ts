import { expect, test } from 'vitest';
import { batchOf } from '../../src/ledger/batch.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();

type Row = {
  readonly name: string;
  readonly size: number | null;
  readonly at: Date;
  readonly hash: Buffer;
  readonly fields: object;
};

const rows: readonly Row[] = [
  {
    name: 'a "b", {c}',
    size: 1,
    at: new Date('2026-11-22T00:00:00.001Z'),
    hash: Buffer.from([0, 255]),
    fields: { x: [1] },
  },
  { name: '', size: null, at: new Date(0), hash: Buffer.alloc(0), fields: {} },
];

const batch = batchOf<Row>({
  name: ['text', ({ name }) => name],
  size: ['integer', ({ size }) => size],
  at: ['timestamptz', ({ at }) => at],
  hash: ['bytea', ({ hash }) => hash],
  fields: ['jsonb', ({ fields }) => JSON.stringify(fields)],
});

test('a batch arrives as a table with its columns, after earlier parameters, in order', async () => {
  const { rows: arrived } = await opened.ledger.pool.query(
    `SELECT $1::integer AS before, ${batch.columns}, number FROM ${batch.table('row', 2, 'number')} ORDER BY number`,
    [7, ...batch.values(rows)],
  );
  expect(arrived).toEqual(rows.map((row, at) => ({ before: 7, ...row, number: String(at + 1) })));
});

test('a batch without rows is a table without rows', async () => {
  const { rows: arrived } = await opened.ledger.pool.query(
    `SELECT * FROM ${batch.table('row')}`,
    batch.values([]),
  );
  expect(arrived).toEqual([]);
});

test('tsc rejects a column of a wrong type, a missing property, and an optional value', () => {
  const refused = [
    // @ts-expect-error a number is no text
    batchOf<Row>({ size: ['text', ({ size }) => size] }),
    // @ts-expect-error rows have no such value
    batchOf<Row>({ colour: ['text', ({ colour }) => colour] }),
    // @ts-expect-error undefined is not null
    batchOf<{ readonly note?: string }>({ note: ['text', ({ note }) => note] }),
    // @ts-expect-error Postgres has no such type
    batchOf<Row>({ name: ['string', ({ name }) => name] }),
  ];
  expect(refused).toHaveLength(4);
});
