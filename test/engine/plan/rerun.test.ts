import { beforeEach, describe, expect, test } from 'vitest';
import { listDestinations } from '../../../src/domain/destinations.ts';
import type { Rate } from '../../../src/domain/rate-card.ts';
import type { RequestState, RerunState } from '../../../src/domain/runs.ts';
import { planRerun } from '../../../src/engine/plan/rerun.ts';
import { requireSummary } from '../../../src/engine/runs/find-run.ts';
import { inRerunLock } from '../../../src/ledger/runs/made-once.ts';
import { readRunFiles } from '../../../src/ledger/runs/run-files.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { anAccount } from '../../support/account.ts';
import { claimRequests, settleRequests } from '../../support/claims.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { rejectedContactsOf } from '../../support/rejected-contacts.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';

const opened = testLedger();

const owner = '00000000-0000-4000-8000-000000000001';
type Settled = Extract<RequestState, 'accepted' | 'rejected' | 'failed' | 'in_doubt'>;

/** Each contact has a request of its own in the given state; the rest stays planned. */
async function runWith(states: readonly Settled[], planned = 0): Promise<string> {
  const { pool } = opened.ledger;
  const contacts = Array.from({ length: states.length + planned }, (_, index) =>
    aContact(index + 2, { destination: { Custom1: `"${index}"` } }),
  );
  const definition = { dispatch: { chunkSize: 2, concurrency: 4, retries: 2 } };
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 1, definition }), contacts);
  await claimRequests(pool, { run, owner, limit: states.length, now: new Date() });
  await settleRequests(
    pool,
    run,
    owner,
    states.map((state, index) => ({
      request: index + 1,
      attempt: 1,
      finishedAt: new Date(),
      httpStatus: null,
      detail: null,
      state,
    })),
  );
  return run;
}

const rates: Rate[] = [{ channel: 'sms', unit: 'part', price: '0.10', currency: 'NZD' }];

const planAgain = (run: string, ...states: RerunState[]): Promise<string> =>
  planRerun(opened.context, { of: run, states, account: anAccount({ rates }) });

/** The sent addresses and texts, by request. */
async function sent(run: string): Promise<string[][]> {
  const { claimed } = await claimRequests(opened.ledger.pool, { run, owner, limit: 100, now: new Date() });
  return claimed.map(({ destinations }) =>
    listDestinations(destinations).map(({ Recipient, Custom1 }) => `${Recipient.slice(-2)} ${Custom1}`),
  );
}

describe('a rerun of failed and unknown recipients', () => {
  let run: string;
  beforeEach(async () => {
    run = await runWith(['accepted', 'failed', 'in_doubt', 'rejected', 'failed'], 1);
  });

  test('a rerun has just those recipients with the same texts, in chunks, with new MessageIDs', async () => {
    const { pool } = opened.ledger;
    const rerun = await planAgain(run, 'failed', 'unknown');
    const { rows } = await pool.query('SELECT message_id FROM request_states WHERE run_id = ANY ($1)', [
      [run, rerun],
    ]);
    expect(new Set(rows.map(({ message_id }) => message_id)).size).toBe(8);
    expect(await sent(rerun)).toEqual([['03 "1"', '04 "2"'], ['06 "4"']]);
    expect(await requireSummary(opened.context, rerun)).toMatchObject({
      campaign: 'test',
      contacts: { read: 3, invalid: 0, duplicate: 0, suppressed: 0 },
      recipients: { total: 3 },
    });
  });

  test('a second rerun excludes the recipients of the first', async () => {
    const first = await planAgain(run, 'failed');
    const second = await planAgain(run, 'failed', 'unknown');
    expect(await sent(second)).toEqual([['04 "2"']]);
    expect(await requireSummary(opened.context, second)).toMatchObject({
      contacts: { read: 3, duplicate: 2 },
    });
    expect(await rejectedContactsOf(opened.ledger.pool, second)).toEqual(
      [3, 6].map((line) => ({
        file: '',
        line,
        column: 'Recipient',
        reason: 'duplicate',
        detail: `reached again by run ${first}`,
      })),
    );
    expect(await problemsRejected(() => planAgain(run, 'failed'))).toEqual([
      `run ${run}: No recipient is failed, except suppressed ones, those of other reruns, and those beyond a cap. \`volley status ${run}\` shows the states.`,
    ]);
  });

  test('a rerun can be rerun', async () => {
    const rerun = await planAgain(run, 'rejected');
    const { pool } = opened.ledger;
    await claimRequests(pool, { run: rerun, owner, limit: 1, now: new Date() });
    const outcome = { request: 1, attempt: 1, finishedAt: new Date(), httpStatus: null, detail: null };
    await settleRequests(pool, rerun, owner, [{ ...outcome, state: 'rejected' }]);
    expect(await sent(await planAgain(rerun, 'rejected'))).toEqual([['05 "3"']]);
  });

  test('a rerun excludes recipients suppressed since', async () => {
    await addSuppressions(opened.ledger.pool, [
      {
        channel: 'sms',
        address: '+61400000003',
        subAccount: '',
        reason: 'asked',
        source: 'operator',
        createdAt: new Date(),
      },
    ]);
    const rerun = await planAgain(run, 'failed');
    expect(await sent(rerun)).toEqual([['06 "4"']]);
    expect(await requireSummary(opened.context, rerun)).toMatchObject({
      contacts: { read: 2, suppressed: 1 },
    });
    await opened.ledger.pool.query('DELETE FROM suppressions');
  });

  test('a rerun is refused while another one is being planned', async () => {
    const again = () => problemsRejected(() => planAgain(run, 'failed'));
    expect(await inRerunLock(opened.ledger.pool, run, again)).toEqual([
      `run ${run}: A process is sending this run or planning a rerun of it. Wait for it, or stop it first.`,
    ]);
  });

  test('a rerun of a missing run is refused', async () => {
    expect(await problemsRejected(() => planAgain('none', 'failed'))).toEqual([
      'run none: There is no such run; `volley runs` lists them.',
    ]);
  });
});

test('a rerun keeps the budget of the first run', async () => {
  const { pool } = opened.ledger;
  const definition = { dispatch: { chunkSize: 2, concurrency: 4, retries: 2 }, budget: { campaign: '0.15' } };
  const contacts = [2, 3].map((line) => ({ ...aContact(line) }));
  const run = await planContacts(opened.ledger, aRun({ definition }), contacts, { partsOf: () => 1 });
  await claimRequests(pool, { run, owner, limit: 1, now: new Date() });
  const outcome = { request: 1, attempt: 1, finishedAt: new Date(), httpStatus: null, detail: null };
  await settleRequests(pool, run, owner, [{ ...outcome, state: 'failed' }]);
  expect(await problemsRejected(() => planAgain(run, 'failed'))).toEqual([
    `run ${run}, budget.campaign: The budget of the campaign is 0.15 NZD; this plan would cost 0.20 NZD.`,
  ]);
});

test('a rerun keeps the needed files as they were when the first run was planned', async () => {
  const { pool } = opened.ledger;
  const withFile = (path: string) => ({ envelope: anEnvelope({}, { files: [{ path, name: path }] }) });
  const definition = { dispatch: { chunkSize: 2, concurrency: 4, retries: 2 } };
  const run = await planContacts(opened.ledger, aRun({ channel: 'fax', definition }), [
    aContact(2, withFile('one.pdf')),
    aContact(3, withFile('two.pdf')),
  ]);
  await claimRequests(pool, { run, owner, limit: 2, now: new Date() });
  const outcome = { attempt: 1, finishedAt: new Date(), httpStatus: null, detail: null };
  await settleRequests(pool, run, owner, [
    { ...outcome, request: 1, state: 'accepted' },
    { ...outcome, request: 2, state: 'failed' },
  ]);
  const rerun = await planAgain(run, 'failed');
  const files = await readRunFiles(pool, rerun, ['one.pdf', 'two.pdf']);
  expect(files.map(({ path, data }) => `${path}: ${data}`)).toEqual(['two.pdf: content of two.pdf']);
});
