import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createMemoryClaimMarks } from '../../../src/domain/claim-marks.ts';
import { checkLedgerLocation, requireSendableLedger } from '../../../src/engine/dispatch/ledger-location.ts';
import { confirmRestored } from '../../../src/engine/location/confirm-restored.ts';
import { readLocation } from '../../../src/ledger/location/location.ts';
import { openClaimMarks } from '../../../src/platform/claim-marks.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { acquireSliceOf, claimFrom } from '../../support/slices.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'volley-test-'));
});
beforeEach(async () => {
  await opened.ledger.pool.query(
    'UPDATE ledger_location SET location = NULL, held_at = NULL, held_reason = NULL, incomplete = false',
  );
  await checkLedgerLocation(opened.context);
});

/** Changes one part of system/timeline/database. */
async function changeRecordedLocation(part: number): Promise<void> {
  await opened.ledger.pool.query(
    `UPDATE ledger_location
     SET location = (SELECT string_agg(CASE n WHEN $1 THEN '7' ELSE part END, '/' ORDER BY n)
                  FROM regexp_split_to_table(location, '/') WITH ORDINALITY AS p (part, n))`,
    [part],
  );
}

test.each([
  [1, 'The ledger was on another server (system identifier 7, now '],
  [2, 'The server is on another timeline (7, now 1): a standby was promoted, or a backup restored'],
  [3, 'The ledger was another database of this server (number 7, now '],
])('a ledger that differs in part %i of its location is held, with the reason', async (part, words) => {
  await changeRecordedLocation(part);
  await expect(requireSendableLedger(opened.context)).rejects.toThrow(words);
  // The hold is stored, so a later check finds it, too.
  await expect(requireSendableLedger(opened.context)).rejects.toThrow(words);
});

test('nothing is claimed through a session whose location differs from the recorded one', async () => {
  const { ledger } = opened;
  const run = await planContacts(
    ledger,
    aRun({ chunkSize: 1 }),
    [2, 3].map((line) => aContact(line)),
  );
  const slice = await acquireSliceOf(ledger, run);
  await changeRecordedLocation(2);
  expect((await claimFrom(ledger, slice, 1)).claimed).toEqual([]);
  await confirmRestored(opened.context, { since: null, reason: 'the stand-by is synchronous' });
  expect((await claimFrom(ledger, slice, 1)).claimed).toHaveLength(1);
});

test('ticks since the backup are missed, because their runs may have been sent', async () => {
  const { pool } = opened.ledger;
  const now = Date.now();
  await pool.query(
    `INSERT INTO schedules (schedule, campaign, times, active, recorded_until)
     VALUES ('night.yaml', 'night', $1, true, $2)`,
    [
      JSON.stringify({ cron: '0 * * * *', timeZone: 'UTC', catchUp: 86_400_000, overlap: 'queue' }),
      new Date(now - 3 * 3_600_000),
    ],
  );
  await confirmRestored(opened.context, { since: new Date(now - 3 * 3_600_000), reason: 'disk lost' });
  const { rows } = await pool.query('SELECT state, reason FROM ticks');
  expect(rows).toHaveLength(3);
  for (const tick of rows)
    expect(tick).toEqual({ state: 'missed', reason: { kind: 'ledger_restored_since', words: 'disk lost' } });
});

test('an operator cannot confirm that nothing is missing if another machine has marked a later claim', async () => {
  const { ledger, context } = { ledger: opened.ledger, context: opened.context };
  const { ledger: id } = await readLocation(ledger.pool);
  const marks = createMemoryClaimMarks();
  const laterClaim = {
    run: 'r',
    slice: 1,
    owner: randomUUID(),
    version: 1,
    at: '2026-11-22T10:00:00.000Z',
  };
  marks.write(id, [laterClaim]);
  // On hold already, because it was moved.
  await changeRecordedLocation(3);
  await checkLedgerLocation(context);
  await checkLedgerLocation({ ...context, ledger: { ...ledger, marks } });
  const moved = confirmRestored(context, { since: null, reason: 'moved' });
  await expect(moved).rejects.toThrow(/claimed a request at .* Give --since/);
  await expect(requireSendableLedger(context)).rejects.toThrow(
    'claimed a request at 2026-11-22T10:00:00.000Z',
  );
  await confirmRestored(context, { since: new Date(), reason: 'disk lost' });
  await requireSendableLedger(context);
});

test('a backup from before an operator gave the ledger a new id is held', async () => {
  const { ledger, context } = opened;
  const { pool } = ledger;
  const { ledger: former, location } = await readLocation(pool);
  const said = { ...ledger, marks: openClaimMarks(home, expect.unreachable) };
  await confirmRestored({ ...context, ledger: said }, { since: null, reason: 'moved' });
  const next = { ...context, ledger: { ...ledger, marks: openClaimMarks(home, expect.unreachable) } };
  await requireSendableLedger(next);
  await pool.query('UPDATE ledger_location SET ledger = $1, location = $2', [former, location]);
  await expect(requireSendableLedger(next)).rejects.toThrow('an older backup has replaced it');
  const moved = confirmRestored(next, { since: null, reason: 'moved' });
  await expect(moved).rejects.toThrow('Give --since');
  await confirmRestored(next, { since: new Date(), reason: 'disk lost' });
  await requireSendableLedger(next);
});

test('a backup cannot be from the future', async () => {
  const since = new Date(Date.now() + 3_600_000);
  await expect(confirmRestored(opened.context, { since, reason: 'oops' })).rejects.toThrow(
    'is in the future',
  );
});

test('claim marks outlive their process, and only the newest mark of ended processes is kept', async () => {
  const mark = {
    run: 'r',
    slice: 1,
    owner: randomUUID(),
    version: 1,
    at: '2026-11-22T10:00:00.000Z',
  };
  const first = openClaimMarks(home, expect.unreachable);
  first.write('ledger', [{ ...mark, run: 'a-much-longer-name' }, mark]);
  first.write('ledger', [mark]);
  const second = openClaimMarks(home, expect.unreachable);
  expect(second.read('ledger')).toEqual([mark]);
  expect(second.read('another ledger')).toEqual([]);
  const folder = join(home, 'claims', 'ledger');
  for (const at of ['2026-11-20', '2026-11-21'])
    await writeFile(join(folder, `999999999.1-${at}`), JSON.stringify([{ ...mark, at }]));
  await writeFile(join(folder, '999999999.1-torn'), '[{"run":');
  second.prune('ledger');
  expect((await readdir(folder)).filter((name) => name.startsWith('999999999'))).toEqual([
    '999999999.1-2026-11-21',
  ]);
  first.close();
});

test('claim marks are written again after another container has removed their file', async () => {
  const mark = {
    run: 'r',
    slice: 1,
    owner: randomUUID(),
    version: 1,
    at: '2026-11-22T10:00:00.000Z',
  };
  const own = openClaimMarks(home, expect.unreachable);
  own.write('shared', [mark]);
  await rm(join(home, 'claims', 'shared'), { recursive: true });
  const later = { ...mark, version: 2 };
  own.write('shared', [later]);
  own.close();
  expect(openClaimMarks(home, expect.unreachable).read('shared')).toEqual([later]);
});

test('claim marks that cannot be written are reported once and kept in memory', async () => {
  const file = join(home, 'a-file');
  await writeFile(file, '');
  const said: string[] = [];
  const marks = openClaimMarks(file, (what) => said.push(what));
  const mark = {
    run: 'r',
    slice: 1,
    owner: randomUUID(),
    version: 1,
    at: '2026-11-22T10:00:00.000Z',
  };
  for (let time = 0; time < 3; time++) marks.write('ledger', [mark]);
  expect(said).toHaveLength(1);
  expect(said[0]).toContain('cannot be written');
  expect(marks.read('ledger')).toEqual([mark]);
});

test('begun runs outlive their process and its ledger, the newest first, until the time that they are kept', () => {
  const folder = join(home, 'begun');
  const begun = {
    run: '261122-aaaaa',
    campaign: 'night',
    fingerprint: 'ab',
    ledger: 'first',
    service: 'https://service.example',
    at: '2026-11-22T10:00:00.000Z',
    keptUntil: '2026-12-22T10:00:00.000Z',
  };
  const later = { ...begun, run: '261123-bbbbb', ledger: 'second', at: '2026-11-23T10:00:00.000Z' };
  const first = openClaimMarks(folder, expect.unreachable);
  first.writeRun({ ...begun, service: 'https://a-longer-name.service.example' }, new Date(begun.at));
  first.writeRun(begun, new Date(begun.at));
  first.writeRun(later, new Date(later.at));
  first.close();
  const second = openClaimMarks(folder, expect.unreachable);
  expect(second.readRuns(new Date(later.at))).toEqual([later, begun]);
  const afterwards = new Date('2027-01-01T00:00:00Z');
  expect(second.readRuns(afterwards)).toEqual([]);
  const last = { ...later, run: '270101-ccccc', keptUntil: '2027-02-01T00:00:00.000Z' };
  second.writeRun(last, afterwards);
  expect(readdirSync(join(folder, 'claims', 'runs'))).toEqual([last.run]);
});
