import { loadModule } from 'libpg-query';
import { beforeAll, describe, expect, test } from 'vitest';
import { tablesWithoutRun } from '../support/statements/run-keys.ts';
import { parse } from '../support/statements/syntax.ts';

/** Tests the check that `statements.test.ts` applies to all statements. */

const runTables = {
  tables: new Set(['runs', 'requests', 'slices', 'polls']),
  functions: new Set(['requests_between']),
};
const tablesWithoutRunIn = (sql: string) => parse(sql).flatMap((each) => tablesWithoutRun(each, runTables));

beforeAll(() => loadModule());

describe('a statement that names its run', () => {
  test.each([
    ['by a parameter', 'SELECT FROM requests q WHERE q.request = $2 AND q.run_id = $1'],
    ['by a list of parameters', 'SELECT FROM requests WHERE run_id = ANY ($1::text[])'],
    [
      'by rows of a parameter',
      'SELECT FROM unnest($1::text[]) AS g (run) JOIN requests q ON q.run_id = g.run',
    ],
    [
      'by a join with rows that name it',
      'SELECT FROM slices s JOIN requests USING (run_id) WHERE s.run_id = $1',
    ],
    [
      'in a correlated subquery',
      'SELECT FROM slices s WHERE run_id = $1 AND EXISTS (SELECT FROM requests q WHERE q.run_id = s.run_id)',
    ],
    [
      'by the argument of a function',
      'SELECT FROM requests_between($1, 1, 9) q JOIN polls p ON p.run_id = q.run_id',
    ],
    [
      'in an UPDATE',
      'UPDATE requests q SET state = $1 FROM slices s WHERE s.run_id = $2 AND q.run_id = s.run_id',
    ],
    [
      'in an INSERT',
      'INSERT INTO polls (run_id, request) SELECT run_id, request FROM requests WHERE run_id = $1',
    ],
  ])('a statement that names its run %s passes', (_, sql) => {
    expect(tablesWithoutRunIn(sql)).toEqual([]);
  });
});

describe('a statement that names no run', () => {
  test.each([
    ['not at all', 'SELECT FROM requests WHERE request = $1', ['requests']],
    ['where null selects any run', 'SELECT FROM requests WHERE run_id = $1 OR $1 IS NULL', ['requests']],
    ['by rows of any run', 'SELECT FROM slices s JOIN requests q USING (run_id)', ['requests', 'slices']],
    [
      'only in a subquery',
      'SELECT FROM slices WHERE EXISTS (SELECT FROM requests WHERE run_id = $1)',
      ['slices'],
    ],
    [
      'only as the source of another run',
      'SELECT FROM runs r JOIN slices s ON s.run_id = r.source_run WHERE r.run_id = $1',
      ['slices'],
    ],
    [
      'only by ctid',
      'DELETE FROM polls WHERE ctid = ANY (ARRAY(SELECT ctid FROM polls WHERE run_id = $1))',
      ['polls'],
    ],
    [
      'only outside of a common table expression',
      'WITH q AS (SELECT * FROM requests) SELECT FROM q WHERE run_id = $1',
      ['requests'],
    ],
    ['in an INSERT', 'INSERT INTO polls SELECT * FROM polls', ['polls']],
  ])('a statement fails that names its run %s', (_, sql, tables) => {
    expect(tablesWithoutRunIn(sql)).toEqual(tables);
  });
});
