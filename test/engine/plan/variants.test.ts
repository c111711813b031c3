import { beforeEach, describe, expect, test } from 'vitest';
import { previewText } from '../../../src/cli/plans/preview-text.ts';
import { loadAccount } from '../../../src/engine/load-definition.ts';
import { planRun } from '../../../src/engine/plan/plan-run.ts';
import { type PreparationOptions, prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { previewCampaign } from '../../../src/engine/plan/preview-campaign.ts';
import { planRerun } from '../../../src/engine/plan/rerun.ts';
import { requireSummary } from '../../../src/engine/runs/find-run.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { rejectedContactsOf } from '../../support/rejected-contacts.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { accountsYaml, makeWorkspace, settingsIn, type Workspace } from '../../support/workspace.ts';

const opened = testLedger();
let workspace: Workspace;
beforeEach(async () => {
  workspace = await makeWorkspace({ 'accounts.yaml': accountsYaml });
  await emptyLedger(opened.ledger.pool);
  return () => workspace[Symbol.asyncDispose]();
});

const people = 1_000;
const rates = '    rates: [{ channel: sms, unit: part, price: 0.1, currency: AUD }]';
const long = `Hello [[name]], ${'this is a longer text. '.repeat(8)}`;
const withControl = `variants:
  - { name: short, share: 50%, message: { Message: "Hi [[name]]" } }
  - { name: long, share: 40%, message: { Message: ${JSON.stringify(long)} } }
  - { name: control, share: 10%, send: nothing }`;
const untilWinner = `variants:
  - { name: short, share: 10%, message: { Message: "Hi [[name]]" } }
  - { name: long, share: 10%, message: { Message: ${JSON.stringify(long)} } }
until: winner`;

async function prepare(more: string, options: PreparationOptions = {}) {
  const rows = Array.from({ length: people }, (_, index) => `04120${String(index).padStart(5, '0')},Ann`);
  await workspace.write('contacts.csv', `to,name\n${rows.join('\n')}\n`);
  await workspace.write(
    'campaign.yaml',
    `campaign: night
account: sandbox
channel: sms
contacts: { file: contacts.csv, country: AU, columns: { Recipient: to } }
message: { Reference: R1 }
dispatch: { chunkSize: 10 }
${more}`,
  );
  return prepareCampaign('campaign.yaml', settingsIn(workspace), { keeps: 'files', ...options });
}

async function query<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
  return (await opened.ledger.pool.query<Row>(sql, values)).rows;
}

async function recipientsOf(run: string): Promise<number> {
  return (await requireSummary(opened.context, run)).recipients.total;
}

/** The addresses of each variant of a run. */
async function addressesOf(run: string): Promise<ReadonlyMap<number, readonly string[]>> {
  const rows = await query<{ variant: number; addresses: string[] }>(
    `SELECT variant, array_agg(address ORDER BY address) AS addresses
     FROM recipient_states JOIN envelopes USING (run_id, envelope) WHERE run_id = $1 GROUP BY variant`,
    [run],
  );
  return new Map(rows.map(({ variant, addresses }) => [variant, addresses]));
}

describe('a campaign with variants', () => {
  test('its plan shows each variant with its recipients, requests, parts and a message, and its run sends that', async () => {
    const preview = await previewCampaign(await prepare(withControl), opened.context);
    const [short, other, control, ...more] = preview.variants ?? [];
    expect(more).toEqual([]);
    expect(short).toMatchObject({ name: 'short', share: 0.5, gets: 'message', smsParts: short?.recipients });
    expect(other).toMatchObject({ name: 'long', gets: 'message', smsParts: 2 * (other?.recipients ?? 0) });
    expect(control).toMatchObject({ name: 'control', gets: 'nothing', requests: 0 });
    expect(preview.recipients).toBe((short?.recipients ?? 0) + (other?.recipients ?? 0));
    expect(preview.recipients + (control?.recipients ?? 0)).toBe(people);
    expect(preview.requests).toBe((short?.requests ?? 0) + (other?.requests ?? 0));
    expect(preview.messages.map(({ variant, text }) => [variant, text])).toEqual([
      ['short', 'Hi Ann'],
      ['long', long.replace('[[name]]', 'Ann')],
    ]);
    expect(previewText(preview)).toMatch(/│ control \(gets nothing\) +│ 10% /);

    const run = await planRun(opened.context, await prepare(withControl), { again: true });
    const addresses = await addressesOf(run);
    expect(addresses.get(1)).toHaveLength(short?.recipients ?? 0);
    expect(addresses.get(2)).toHaveLength(other?.recipients ?? 0);
  });

  test('no request and no slice has two variants', async () => {
    const run = await planRun(opened.context, await prepare(withControl), { again: true });
    expect(
      await query(
        `SELECT slice FROM slices s JOIN recipient_states r
           ON r.run_id = s.run_id AND r.request BETWEEN s.first_request AND s.last_request
         JOIN envelopes e ON e.run_id = r.run_id AND e.envelope = r.envelope
         WHERE s.run_id = $1 AND e.variant IS DISTINCT FROM s.variant`,
        [run],
      ),
    ).toEqual([]);
    expect(
      await query(`SELECT DISTINCT variant FROM slices WHERE run_id = $1 AND phase = 'sending' ORDER BY 1`, [
        run,
      ]),
    ).toEqual([{ variant: 1 }, { variant: 2 }]);
  });

  test('people of the control group are left out with a reason of their own, and in the next run too', async () => {
    const [first, second] = [
      await planRun(opened.context, await prepare(withControl), { again: true }),
      await planRun(opened.context, await prepare(withControl.replace('Hi ', 'Hey ')), { again: true }),
    ];
    const rejected = await rejectedContactsOf(opened.ledger.pool, first);
    expect(new Set(rejected.map(({ reason, detail }) => `${reason}: ${detail}`))).toEqual(
      new Set(['suppressed: in the control group']),
    );
    const { contacts } = await requireSummary(opened.context, first);
    expect(contacts).toMatchObject({ read: people, suppressed: people - (await recipientsOf(first)) });
    expect(await addressesOf(second)).toEqual(await addressesOf(first));
  });

  test('a rerun keeps the variant of each recipient', async () => {
    const run = await planRun(opened.context, await prepare(withControl), { again: true });
    await query(`UPDATE runs SET state = 'cancelled' WHERE run_id = $1`, [run]);
    await query(`UPDATE slices SET state = 'done', job = NULL WHERE run_id = $1`, [run]);
    const account = await loadAccount('sandbox', settingsIn(workspace));
    const rerun = await planRerun(opened.context, { of: run, states: ['cancelled'], account });
    expect(await addressesOf(rerun)).toEqual(await addressesOf(run));
  });

  test('a test of some rows sends each variant', async () => {
    const prepared = await prepare(withControl, { testTo: ['0412999999'], limit: 4 });
    const run = await planRun(opened.context, prepared);
    expect([...(await addressesOf(run))].map(([variant, { length }]) => [variant, length])).toEqual([
      [1, 2],
      [2, 2],
    ]);
  });

  test('a control group in an urgent campaign is warned of, and texts of other SMS parts under one budget', async () => {
    await workspace.write('accounts.yaml', accountsYaml.replace('    timeouts:', `${rates}\n    timeouts:`));
    const more = withControl.replace('variants:', 'budget: { campaign: 1000 }\nvariants:');
    await prepare(more).then((prepared) => prepared.close());
    const prepared = await prepare(more, {});
    const { warnings, variants } = await previewCampaign(prepared, opened.context);
    expect(warnings).toEqual([
      'campaign.yaml:9:3: The variants share one budget and have different numbers of SMS parts: "short" 1, "long" 2',
    ]);
    expect(variants?.map(({ cost }) => cost)).toEqual([expect.any(String), expect.any(String), null]);
  });

  test.each([
    ['dispatch: { priority: urgent }', '"dispatch.priority" is urgent'],
    ['contacts: { minRecipients: 5 }', '"contacts.minRecipients" asks for a number'],
  ])('a control group in a campaign with %s is warned of', async (key, why) => {
    const [name = '', rest = ''] = key.split(/: \{ | \}/);
    const written = (await prepare(withControl)).source.replace(`${name}: {`, `${name}: { ${rest},`);
    await workspace.write('campaign.yaml', written);
    const prepared = await prepareCampaign('campaign.yaml', settingsIn(workspace), { keeps: 'files' });
    const { warnings } = await previewCampaign(prepared, opened.context);
    expect(warnings).toEqual([
      `campaign.yaml:10:40: The control group gets nothing, and ${why}, as in a campaign that must reach all`,
    ]);
  });
});

describe('a campaign until a winner', () => {
  test('its run sends the shares, counts the rest, and remembers what the rest is planned of', async () => {
    const run = await planRun(opened.context, await prepare(untilWinner), { again: true });
    const { contacts, recipients } = await requireSummary(opened.context, run);
    expect(recipients.total + (contacts.beyondLimit ?? 0)).toBe(people);
    expect(recipients.total).toBeGreaterThan(people / 10);
    expect(recipients.total).toBeLessThan((3 * people) / 10);
    expect(
      await query('SELECT run_id, variant, rest_run, source IS NOT NULL AS kept FROM run_rests'),
    ).toEqual([{ run_id: run, variant: null, rest_run: null, kept: true }]);
  });

  test('its plan shows the rest, with the parts of the longest variant', async () => {
    const { variants } = await previewCampaign(await prepare(untilWinner), opened.context);
    const rest = variants?.at(-1);
    expect(rest).toMatchObject({
      name: 'the rest',
      gets: 'winner',
      requests: 0,
      smsParts: 2 * (rest?.recipients ?? 0),
    });
  });

  test('an account that brings no reports is warned of, because no variant could win', async () => {
    await workspace.write('accounts.yaml', accountsYaml.replace(/ *webhookToken: .*\n/, ''));
    const { warnings } = await previewCampaign(await prepare(untilWinner), opened.context);
    expect(warnings).toEqual([
      'campaign.yaml:10:8: "until": account "sandbox" has neither a webhook nor a status look-up that brings delivery reports, so no variant ever wins',
    ]);
  });

  test('approval asks about the whole list', async () => {
    const run = await planRun(
      opened.context,
      await prepare(`${untilWinner}\napproval: { aboveRecipients: ${people - 1} }`),
      { again: true },
    );
    expect(await query('SELECT reason FROM approvals WHERE run_id = $1', [run])).toEqual([
      { reason: { kind: 'many_recipients', recipients: people, limit: people - 1 } },
    ]);
  });

  test('a limit is refused', async () => {
    expect(await problemsRejected(() => prepare(untilWinner, { limit: 10 }))).toEqual([
      expect.stringContaining('--limit: A limit and "until: winner" exclude each other'),
    ]);
  });
});
