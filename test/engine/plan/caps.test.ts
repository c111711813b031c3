import { beforeEach, describe, expect, test } from 'vitest';
import { previewText } from '../../../src/cli/plans/preview-text.ts';
import { planRun } from '../../../src/engine/plan/plan-run.ts';
import { type PreparationOptions, prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { previewCampaign } from '../../../src/engine/plan/preview-campaign.ts';
import { planRerun } from '../../../src/engine/plan/rerun.ts';
import { startOfDay } from '../../../src/platform/zoned-times.ts';
import { anAccount } from '../../support/account.ts';
import { claimRequests, settleRequests } from '../../support/claims.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { rejectedContactsOf } from '../../support/rejected-contacts.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { testWorkspace } from '../../support/test-workspace.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { accountsYaml, settingsIn } from '../../support/workspace.ts';

const opened = testLedger();
const workspace = testWorkspace();
beforeEach(() => emptyLedger(opened.ledger.pool));

const owner = '00000000-0000-4000-8000-000000000001';

async function write(
  account: string,
  { project = '', contacts = '', rows = ['0412000001,1', '0412000002,2'] } = {},
): Promise<void> {
  await workspace.write('accounts.yaml', `${accountsYaml}${account && `    ${account}\n`}${project}`);
  await workspace.write('contacts.csv', ['to,invoice', ...rows, ''].join('\n'));
  await workspace.write(
    'campaign.yaml',
    `campaign: night
account: sandbox
channel: sms
contacts: { file: contacts.csv, country: AU, columns: { Recipient: to }${contacts} }
message: { Message: "Invoice [[invoice]]" }
dispatch: { chunkSize: 1 }
`,
  );
}

const prepare = (options: PreparationOptions = {}) =>
  prepareCampaign('campaign.yaml', settingsIn(workspace), { keeps: 'files', ...options });

const plan = async (options?: PreparationOptions): Promise<string> =>
  planRun(opened.context, await prepare(options), { again: true });

async function leftOut(run: string): Promise<string[]> {
  const rejected = await rejectedContactsOf(opened.ledger.pool, run);
  return rejected.map(({ line, reason, detail }) => `${line} ${reason}: ${detail}`);
}

async function settle(run: string, states: readonly ('accepted' | 'failed' | 'in_doubt')[]): Promise<void> {
  const { pool } = opened.ledger;
  await claimRequests(pool, { run, owner, limit: states.length, now: new Date() });
  const ended = { attempt: 1, finishedAt: new Date(), httpStatus: null, detail: null };
  await settleRequests(
    pool,
    run,
    owner,
    states.map((state, index) => ({ ...ended, request: index + 1, state })),
  );
}

describe('frequency', () => {
  test('a plan says who would be left out, a run names the rule, and one without recipients is refused', async () => {
    await write('frequency: { most: 1, within: 7d, over: [sms] }');
    await workspace.write('contacts.csv', 'to,invoice\n0412000001,1\n');
    const first = await plan();
    await workspace.write('contacts.csv', 'to,invoice\n0412000001,1\n0412000002,2\n');
    const preview = await previewCampaign(await prepare(), opened.context);
    const rule = 'would get more than 1 message within 7d (frequency of the account)';
    expect(preview).toMatchObject({ recipients: 1, capped: [{ rows: 1, detail: rule }] });
    expect(previewText(preview)).toContain(`  left out    1 ${rule}\n`);
    expect(await leftOut(await plan())).toEqual([`2 suppressed: ${rule}, the latest by run ${first}`]);
    expect(await problemsRejected(plan)).toEqual([
      expect.stringContaining(
        `No recipient is left, so Volley makes no run: 2 of 2 rows are suppressed (2 ${rule}).`,
      ),
    ]);
  });

  test('a cap of the project holds for all accounts, beside that of the account', async () => {
    await write('frequency: { most: 5, within: 7d }', { project: 'frequency: { most: 1, within: 1d }\n' });
    await plan();
    await opened.ledger.pool.query(`UPDATE runs SET account = 'another'`);
    await workspace.write('contacts.csv', 'to,invoice\n0412000001,1\n0412000003,3\n');
    expect(await leftOut(await plan())).toEqual([
      '2 suppressed: would get more than 1 message within 1d (frequency of the project)',
    ]);
  });

  test('a cap over other channels does not limit the campaign', async () => {
    await write('frequency: { most: 1, within: 7d, over: [email] }');
    await plan();
    expect(await leftOut(await plan())).toEqual([]);
  });

  test.each([', duplicates: allow', ', key: invoice'])(
    'rows of one list with the same address count, with %s, until the cap',
    async (contacts) => {
      const rows = ['0412000001,1', '0412000001,2', '0412000001,3', '0412000002,4'];
      await write('frequency: { most: 2, within: 7d }', { contacts, rows });
      expect(await leftOut(await plan())).toEqual([
        '4 suppressed: would get more than 2 messages within 7d (frequency of the account)',
      ]);
    },
  );

  test('a rerun replaces the messages of its rows, and counts those of others', async () => {
    await write('frequency: { most: 2, within: 7d }', {
      contacts: ', duplicates: allow',
      rows: ['0412000001,1', '0412000001,2', '0412000002,3'],
    });
    const run = await plan();
    await settle(run, ['accepted', 'in_doubt', 'failed']);
    const account = anAccount({
      caps: {
        frequency: [{ of: 'account', most: 1, milliseconds: 86_400_000, over: ['sms'] }],
        recipientsPerDay: null,
      },
    });
    const rerun = await planRerun(opened.context, { of: run, states: ['unknown', 'failed'], account });
    expect(await leftOut(rerun)).toEqual([
      `3 suppressed: would get more than 1 message within 1d (frequency of the account), the latest by run ${run}`,
    ]);
  });

  test('a test is neither limited nor counted', async () => {
    await write('frequency: { most: 1, within: 7d }');
    const testTo = ['0499000111'];
    await plan({ testTo });
    await plan({ testTo });
    await workspace.write('contacts.csv', 'to,invoice\n0499000111,1\n');
    expect(await leftOut(await plan())).toEqual([]);
  });
});

describe('limits.recipientsPerDay', () => {
  test('rows beyond it are listed, and a run of the rest sends to them when there is room', async () => {
    await write('limits: { recipientsPerDay: 3 }', {
      rows: ['0412000001,1', '0412000002,2', '0412000003,3', '0412000004,4'],
    });
    const run = await plan();
    expect(await leftOut(run)).toEqual(['5 suppressed: beyond the 3 recipients a day of the account']);
    await opened.ledger.pool.query(
      `UPDATE runs SET created_at = created_at - interval '2 days', finished_at = created_at - interval '2 days', state = 'completed'`,
    );
    await opened.ledger.pool.query(
      `UPDATE slices SET claimed_to = last_request, claimed_at = now() - interval '2 days', state = 'done', job = NULL
       WHERE phase = 'sending'`,
    );
    const rest = await plan({ origin: run });
    const { rows } = await opened.ledger.pool.query('SELECT addresses FROM contents WHERE run_id = $1', [
      rest,
    ]);
    expect(rows).toEqual([{ addresses: ['+61412000004'] }]);
  });

  test('a rerun replaces the messages of its rows', async () => {
    await write('limits: { recipientsPerDay: 2 }');
    const run = await plan();
    await settle(run, ['accepted', 'in_doubt']);
    const account = anAccount({ caps: { frequency: [], recipientsPerDay: 2 } });
    const rerun = await planRerun(opened.context, { of: run, states: ['unknown'], account });
    expect(await leftOut(rerun)).toEqual([]);
  });

  test.each([
    ['UTC', '2026-11-27T00:00:00.000Z'],
    ['Australia/Sydney', '2026-11-27T13:00:00.000Z'],
    ['America/New_York', '2026-11-27T05:00:00.000Z'],
  ])('a day in %s begins at its midnight', (zone, expected) => {
    expect(startOfDay(new Date('2026-11-27T22:30:00Z'), zone).toISOString()).toBe(expected);
  });

  test.each([
    // The clocks went forward from 2:00 to 3:00, and on another day back.
    ['Australia/Sydney', '2026-10-04T12:00:00Z', '2026-10-03T14:00:00.000Z'],
    ['Australia/Sydney', '2026-04-05T12:00:00Z', '2026-04-04T13:00:00.000Z'],
    // The clocks go forward at midnight, so the day begins at 1:00.
    ['Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-23T22:00:00.000Z'],
  ])('a day in %s on which the clocks change begins at its first moment (%s)', (zone, at, expected) => {
    expect(startOfDay(new Date(at), zone).toISOString()).toBe(expected);
  });
});
