import { beforeAll, expect, test } from 'vitest';
import { findChosen, readChoice, resolveChosen } from '../../../src/dashboard/run/doubts-page.ts';
import { InputError } from '../../../src/domain/problems.ts';
import { createLookUpJobs, type LookUpJobs } from '../../../src/engine/runs/ask-about-doubts.ts';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import { listFailureGroups } from '../../../src/ledger/counts/groups.ts';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { planRunInDoubt } from '../../support/run-in-doubt.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let jobs: LookUpJobs;
beforeAll(async () => {
  jobs = createLookUpJobs({ environment: {}, workingFolder: '/' });
});

const countsOf = async (run: string) => (await summariseRun(opened.ledger.pool, run))?.requests;
const problem = (error: unknown): string =>
  error instanceof InputError ? (error.problems[0]?.what ?? '') : `${error}`;

test('a choice needs a decision, and a request or all of them', () => {
  expect(() => readChoice('r', {})).toThrow('Choose what to do.');
  expect(() => readChoice('r', { decision: 'delete', which: 'all' })).toThrow('Choose what to do.');
  expect(() => readChoice('r', { decision: 'accepted', which: 'chosen' })).toThrow(/at least one/);
  expect(readChoice('r', { decision: 'resend', which: 'chosen', request: '7' })).toMatchObject({
    requests: ['7'],
  });
  expect(readChoice('r', { decision: 'ask', which: 'all', request: ['7'] })).toMatchObject({
    requests: undefined,
  });
  expect(readChoice('r', { decision: 'abandon', group: 'g', request: '7' })).toEqual({
    run: 'r',
    decision: 'abandon',
    requests: undefined,
    group: 'g',
  });
});

test('one, some and all requests are resolved, with the reason in the audit trail', async () => {
  const run = await planRunInDoubt(opened.ledger, { requests: 5 });
  const { context } = opened;
  const one = { run, decision: 'accepted', requests: ['2'] } as const;
  expect(await findChosen(context, one)).toMatchObject({ requests: 1, recipients: 2 });
  expect(await resolveChosen(context, jobs, one, { confirmed: 1, reason: 'seen in the list' })).toBe(
    '1 request with 2 recipients: accepted.',
  );
  const some = { run, decision: 'abandon', requests: ['3', '5'] } as const;
  await resolveChosen(context, jobs, some, { confirmed: 2, reason: 'too late' });
  const all = { run, decision: 'accepted', requests: undefined } as const;
  await resolveChosen(context, jobs, all, { confirmed: 2, reason: 'the service says so' });
  expect(await countsOf(run)).toMatchObject({ accepted: 3, abandoned: 2, in_doubt: 0 });
  const entries = await listAudit(opened.ledger.pool, { run, action: 'requests resolved' }, 10);
  expect(entries.map(({ details }) => details['reason'])).toEqual([
    'the service says so',
    'too late',
    'seen in the list',
  ]);
});

test('all requests with one answer are resolved, and no other whose answer begins with its words', async () => {
  const run = await planRunInDoubt(opened.ledger, { requests: 5 });
  const { pool } = opened.ledger;
  const sql = 'UPDATE requests SET reason = to_jsonb($3::text) WHERE run_id = $1 AND request = ANY ($2)';
  await pool.query(sql, [run, [2, 4], 'HTTP 404, text/html: <p>not here</p>']);
  await pool.query(sql, [run, [5], 'HTTP 404, text/html, and more']);
  const groups = await listFailureGroups(pool, run, { states: ['in_doubt'] });
  const { group } = groups.find(({ reason }) => reason === 'HTTP 404, text/html') ?? {};
  const chosen = { run, decision: 'abandon', requests: undefined, group } as const;
  const { seen } = await findChosen(opened.context, chosen);
  const decided = { confirmed: 2, seen, reason: 'another server' };
  expect(await resolveChosen(opened.context, jobs, chosen, decided)).toBe(
    '2 requests with 4 recipients: abandoned.',
  );
  expect(await countsOf(run)).toMatchObject({ abandoned: 2, in_doubt: 3 });
  expect(await resolveChosen(opened.context, jobs, chosen, decided).catch(problem)).toBe(
    'No request is in doubt any more.',
  );
});

test('a decision about more or fewer requests than were confirmed is refused, and changes nothing', async () => {
  const run = await planRunInDoubt(opened.ledger, { requests: 3 });
  const all = { run, decision: 'abandon', requests: undefined } as const;
  const refused = resolveChosen(opened.context, jobs, all, { confirmed: 2, reason: 'gone' });
  expect(await refused.catch(problem)).toBe(
    '3 requests are in doubt now, not 2. Look again before you decide.',
  );
  expect(await countsOf(run)).toMatchObject({ in_doubt: 3 });
});

test('a decision about all is refused when as many requests are in doubt as before, but others', async () => {
  const run = await planRunInDoubt(opened.ledger, { requests: 3 });
  const setState = (request: number, state: string) =>
    opened.ledger.pool.query('UPDATE requests SET state = $3 WHERE run_id = $1 AND request = $2', [
      run,
      request,
      state,
    ]);
  const all = { run, decision: 'abandon', requests: undefined } as const;
  await setState(3, 'accepted');
  const { seen } = await findChosen(opened.context, all);
  await setState(1, 'accepted');
  await setState(3, 'in_doubt');
  const refused = resolveChosen(opened.context, jobs, all, { confirmed: 2, seen, reason: 'gone' });
  expect(await refused.catch(problem)).toBe('Other requests are in doubt now. Look again before you decide.');
  expect(await countsOf(run)).toMatchObject({ in_doubt: 2, abandoned: 0 });
});

test('when two people decide at once, the second is refused', async () => {
  const run = await planRunInDoubt(opened.ledger, { requests: 1 });
  const decide = (decision: 'accepted' | 'abandon') =>
    resolveChosen(
      opened.context,
      jobs,
      { run, decision, requests: ['1'] },
      { confirmed: 1, reason: 'known' },
    ).then(
      () => 'done',
      () => 'refused',
    );
  expect((await Promise.all([decide('accepted'), decide('abandon')])).toSorted()).toEqual([
    'done',
    'refused',
  ]);
});
