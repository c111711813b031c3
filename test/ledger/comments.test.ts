import { expect, test } from 'vitest';
import { readClosedLists } from '../support/closed-lists.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();

/** Columns whose words need no explanation. */
const uncommentedColumns: readonly string[] = ['channel', 'action'];

test('every table of the ledger has a comment', async () => {
  const { rows } = await opened.ledger.pool.query<{ table: string; comment: string | null }>(`
    SELECT relname AS table, obj_description(oid, 'pg_class') AS comment
    FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname NOT LIKE 'knex_migrations%'
    ORDER BY relname
  `);
  const without = rows.filter(({ comment }) => comment === null).map(({ table }) => table);
  expect(rows.map(({ table }) => table)).toEqual(
    expect.arrayContaining(['runs', 'unusual_delivery_reports', 'ledger_location']),
  );
  expect(without).toEqual([]);
});

test('the comment of a column with a closed list explains each of its words', async () => {
  const all = await readClosedLists(opened.ledger.pool);
  const lists = all.filter(({ column }) => !uncommentedColumns.includes(column));
  const commentOf = new Map(all.map(({ table, column, comment }) => [`${table}.${column}`, comment ?? '']));
  const whole = (comment: string): string =>
    [comment, ...[...commentOf].flatMap(([name, other]) => (comment.includes(name) ? [other] : []))].join(
      ' ',
    );
  const unexplained = lists.flatMap(({ table, column, words, comment }) =>
    words
      .filter((word) => !new RegExp(`\\b${word}\\b`).test(whole(comment ?? '')))
      .map((word) => `${table}.${column}: ${word}`),
  );
  expect(lists.map(({ table, column }) => `${table}.${column}`)).toEqual(
    expect.arrayContaining([
      'runs.state',
      'requests.state',
      'slices.state',
      'attempts.verdict',
      'unusual_delivery_reports.state',
    ]),
  );
  expect(unexplained).toEqual([]);
});
