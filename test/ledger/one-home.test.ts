import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { countedTablesOf, readSqlTexts, writesOf } from '../support/sql-texts.ts';
import { testLedger } from '../support/test-ledger.ts';

const texts = readSqlTexts();
const writes = writesOf(texts);

const opened = testLedger();

const writersOf = (table: string, column?: string): readonly string[] => [
  ...new Set(
    writes
      .filter((write) => write.table === table && (column === undefined || write.columns.includes(column)))
      .map(({ file }) => file),
  ),
];

test('one file writes the state of a run and the time of its change', () => {
  expect(writersOf('runs', 'state')).toEqual(['run-states/transitions.ts']);
  expect(writersOf('runs', 'finished_at')).toEqual(['run-states/transitions.ts']);
  expect(writersOf('run_states', 'state')).toEqual(['run-states/transitions.ts']);
});

test.each(['requests', 'attempts', 'outcomes', 'slice_outcomes', 'early_proofs', 'resolutions'])(
  'only the folder of requests writes %s',
  (table) => {
    const writers = writersOf(table);
    expect(writers.length).toBeGreaterThan(0);
    expect(writers.filter((file) => !file.startsWith('requests/'))).toEqual([]);
  },
);

test('the table of transitions names every file that changes the state of a request, and functions of that file', () => {
  const folder = new URL('../../src/ledger/requests/', import.meta.url);
  const named = [...transitionTable().matchAll(/`(\w+)` in `([\w-]+\.ts)`/g)].map(
    ([, name = '', file = '']) => ({
      name,
      file,
    }),
  );
  // It gives requests rows and changes no state.
  const writers = writersOfState().filter((file) => file !== 'requests/add-rows.ts');
  expect([...new Set(named.map(({ file }) => `requests/${file}`))].toSorted()).toEqual(writers);
  for (const { name, file } of named) {
    expect(readFileSync(new URL(file, folder), 'utf8'), file).toContain(`export async function ${name}(`);
  }
});

test('the tables that a file writes are named in it, except by those that erase, move or copy rows of many tables', () => {
  const writing = texts.filter(({ text }) => /\b(?:INSERT INTO|UPDATE|DELETE FROM) \$/.test(text));
  expect(writing.map(({ file }) => file)).toEqual([
    'moves/copy-suppressions.ts',
    'purge/erase-run.ts',
    'purge/give-back-space.ts',
    'requests/erase.ts',
  ]);
});

test('every statement that changes or deletes rows of a run names the run', async () => {
  const { rows } = await opened.ledger.pool.query<{ table: string }>(`
    SELECT indrelid::regclass::text AS "table"
    FROM pg_index
    JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
    WHERE indisprimary AND attname = 'run_id'
  `);
  const ofRuns = new Set(rows.map(({ table }) => table));
  const found = texts
    .filter(({ text }) =>
      [...text.matchAll(/\b(?:UPDATE|DELETE FROM) (\w+)/g)].some(([, table = '']) => ofRuns.has(table)),
    )
    .filter(({ text }) => !/\brun_id\b/.test(text))
    .map(({ file }) => file);
  expect(found).toEqual([]);
});

const countable = [
  'requests',
  'attempts',
  'outcomes',
  'slice_outcomes',
  'recipient_outcomes',
  'recipient_outcomes_between',
  'all_recipient_outcomes',
  'request_states',
  'recipient_states',
];

/** Files outside `counts/` that count rows of requests and recipients, and what for. None counts a run by state. */
const otherCounts = {
  'delivery-reports/fold-outcomes.ts': 'the reported recipients of a slice',
  'purge/erase-run.ts': 'how many requests it erases at once',
  'requests/add-rows.ts': 'the requests of a slice',
  'requests/claim-rows.ts': 'the suppressed recipients of a request',
  'requests/erase.ts': 'the reported recipients of a request, whose job number can go',
  'runs/describe-sending.ts': 'attempts by time',
};

test('requests and recipients of a run are counted by state in one folder', () => {
  const counting = texts.filter((each) => countedTablesOf(each).some((table) => countable.includes(table)));
  const outside = counting.map(({ file }) => file).filter((file) => !file.startsWith('counts/'));
  expect([...new Set(outside)]).toEqual(Object.keys(otherCounts));
});

/** A request without a row is accepted by an outcome. */
function writersOfState(): readonly string[] {
  const newRequests = writes.filter(
    ({ table, columns }) => table === 'requests' && columns.includes('run_id'),
  );
  const files = [
    ...writersOf('requests', 'state'),
    ...writersOf('outcomes', 'requests'),
    ...newRequests.map(({ file }) => file),
  ];
  return [...new Set(files)].toSorted();
}

function transitionTable(): string {
  const architecture = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8');
  return architecture.split('| Transition of a request |')[1]?.split('\n\n')[0] ?? '';
}

test('only the file that changes the state of slices writes their owners', () => {
  expect(writersOf('slice_owners')).toEqual(['slice-states/transitions.ts']);
});

test('only billing writes reopened requests', () => {
  expect(writersOf('billing_reopened_requests')).toEqual(['billing/book.ts', 'billing/changes.ts']);
});

test('triggers do only what application code cannot enforce: keep the audit trail append-only, count suppressions added by hand, and follow what a process of a former version changes', async () => {
  const { rows } = await opened.ledger.pool.query<{ trigger: string }>(
    `SELECT tgname || ' on ' || tgrelid::regclass AS trigger
     FROM pg_trigger
     JOIN pg_class ON pg_class.oid = tgrelid
     WHERE NOT tgisinternal AND relnamespace = 'public'::regnamespace
     ORDER BY 1`,
  );
  expect(rows.map(({ trigger }) => trigger)).toEqual([
    'attempts_added on attempts',
    'attempts_changed on attempts',
    'audit_append_only on audit',
    'billing_entries_added on billing_entries',
    'billing_entries_changed on billing_entries',
    'forget_words on contact_file_pieces',
    'hashed_suppressions_begin_epoch on hashed_suppressions',
    'left_out_counted on runs',
    'outcomes_counted on outcomes',
    'recipient_outcomes_added on recipient_outcomes',
    'recipient_outcomes_changed on recipient_outcomes',
    'recipient_outcomes_deleted on recipient_outcomes',
    'requests_added on requests',
    'requests_changed on requests',
    'runs_counted on runs',
    'slice_outcomes_added on slice_outcomes',
    'slice_outcomes_changed on slice_outcomes',
    'suppressions_begin_epoch on suppressions',
    'watched_outcomes_added on recipient_outcomes',
    'watched_outcomes_changed on recipient_outcomes',
    'watched_outcomes_deleted on recipient_outcomes',
  ]);
});
