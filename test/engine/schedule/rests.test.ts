import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { EngineContext } from '../../../src/engine/context.ts';
import { confirmRestored } from '../../../src/engine/location/confirm-restored.ts';
import { type PlanFindings, planRun } from '../../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { erasePerson } from '../../../src/engine/recipient-data/erase-person.ts';
import { requireSummary } from '../../../src/engine/runs/find-run.ts';
import { promoteVariant } from '../../../src/engine/runs/promote-run.ts';
import { cancel } from '../../../src/engine/runs/stop-run.ts';
import { type StartedRest, startRests } from '../../../src/engine/schedule/start-rests.ts';
import { watchRuns } from '../../../src/engine/watch/watch-runs.ts';
import { listPurgeCandidates } from '../../../src/ledger/purge/candidates.ts';
import { listDueTicks } from '../../../src/ledger/schedules/ticks.ts';
import { readVariantResults } from '../../../src/ledger/watch/variant-results.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { type NotifyScene, openNotifyScene, webhookNotify } from '../../support/notify-scene.ts';
import { withKey } from '../../support/purges.ts';
import { slicePlanOf } from '../../support/slices.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { accountsYaml, contactsCsv, smsCampaignYaml } from '../../support/workspace.ts';

let scene: NotifyScene;
beforeAll(async () => {
  scene = await openNotifyScene();
});
afterAll(() => scene[Symbol.asyncDispose]());
beforeEach(async () => {
  await emptyLedger(scene.opened.ledger.pool);
  await scene.workspace.write('accounts.yaml', accountsYaml);
  await scene.workspace.write('contacts.csv', contactsCsv(people));
  scene.peer.calls.length = 0;
});

const people = 60;
const campaign = (
  until = '{ by: replied, observe: 1s, otherwise: ask }',
): string => `${smsCampaignYaml}variants:
  - { name: plain, share: 30% }
  - { name: other, share: 30%, message: { Reference: other } }
until: ${until}
`;

async function query<Row extends object>(sql: string): Promise<Row[]> {
  return (await scene.opened.ledger.pool.query<Row>(sql)).rows;
}

/** Sends the shares. */
async function sendPart(until?: string): Promise<string> {
  const run = await scene.plan(webhookNotify('completed, paused'), campaign(until));
  await scene.send(run);
  return run;
}

/** So many seconds later. */
const later = (seconds: number): EngineContext => {
  const { context } = scene.opened;
  return { ...context, now: () => new Date(context.now().getTime() + seconds * 1_000) };
};

/** Looks once, so many seconds after the look before. */
async function look(seconds = 0): Promise<void> {
  await query(`UPDATE run_watches SET looked_at = looked_at - interval '${seconds} s'`);
  const { context } = scene.opened;
  const queue = await context.ledger.queue();
  await watchRuns(context, queue, [], async ({ run }) => slicePlanOf(run));
}

/** Looks until the time of observation is over. */
async function observe(): Promise<void> {
  await look();
  await look(6);
}

async function start(context = scene.opened.context): Promise<readonly StartedRest[]> {
  const ends: StartedRest[] = [];
  await startRests(context, scene.settings, (end) => ends.push(end));
  return ends;
}

/** What the webhook got, in any order. */
const notified = () =>
  scene.peer.calls
    .map(({ notification }) => notification)
    .toSorted((one, other) => one.type.localeCompare(other.type));

test('a person is notified once, as of a pause, that no variant is clearly better', async () => {
  const run = await sendPart();
  await observe();
  await observe();
  await scene.notifyAll();
  expect(notified()).toMatchObject([
    { type: 'run.completed', data: { run } },
    {
      type: 'run.warned',
      data: { run, reason: 'no variant is clearly better, and a person decides' },
    },
  ]);
});

test('the observation begins when the variants are sent, and is not part of that of a canary', async () => {
  await sendPart('{ by: replied, observe: 1h }');
  await query('UPDATE run_watches SET observed_ms = 3_600_000');
  await look(6);
  await look(6);
  const [found] = await query<{ observedMs: number }>(
    `SELECT CAST(evidence -> 'variants' ->> 'observedMs' AS float8) AS "observedMs" FROM run_watches`,
  );
  expect(found?.observedMs).toBeGreaterThanOrEqual(6_000);
  expect(found?.observedMs).toBeLessThan(3_600_000);
  expect(await query('SELECT variant, problem FROM run_rests')).toEqual([{ variant: null, problem: null }]);
});

test('a person is notified once that the rest cannot be planned, and the run of the rest is made when it can', async () => {
  const run = await sendPart();
  await promoteVariant(scene.opened.context, run, 'other', 'shorter');
  await scene.workspace.write('accounts.yaml', accountsYaml.replace('sandbox:', 'gone:'));
  expect(await start()).toMatchObject([{ run, kind: 'problem' }]);
  expect(await start(later(70))).toMatchObject([{ run, kind: 'problem' }]);
  await scene.notifyAll();
  expect(notified().map(({ type }) => type)).toEqual(['run.completed', 'run.warned']);
  await scene.workspace.write('accounts.yaml', accountsYaml);
  expect(await start(later(140))).toMatchObject([{ run, kind: 'planned' }]);
});

test('the rest gets the attachment that was tested, also if the file has changed since', async () => {
  await scene.workspace.write('documents/offer.pdf', '%PDF tested');
  const withFile = `${campaign().replace('Hello [[name]]', 'Hello [[name]], see [[File1]]')}files: [{ file: documents/offer.pdf }]\n`;
  const run = await scene.plan(webhookNotify(), withFile);
  await scene.send(run);
  await promoteVariant(scene.opened.context, run, 'other', 'shorter');
  await scene.workspace.write('documents/offer.pdf', '%PDF changed');
  expect(await start()).toMatchObject([{ run, kind: 'planned' }]);
  expect(
    await query(`SELECT DISTINCT convert_from(data, 'UTF8') AS data FROM run_files ORDER BY data`),
  ).toEqual([{ data: '%PDF tested' }]);
});

test('after a restore, the rest is not sent until a person says so: the former ledger may have sent it', async () => {
  const run = await sendPart();
  await promoteVariant(scene.opened.context, run, 'other', 'shorter');
  await confirmRestored(scene.opened.context, { since: new Date(), reason: 'disk lost' });
  expect(await start()).toEqual([]);
  await observe();
  expect(await query(`SELECT variant, problem FROM run_rests`)).toEqual([
    {
      variant: null,
      problem: 'The ledger was restored (disk lost), and the rest may have been sent since the backup.',
    },
  ]);
  await promoteVariant(scene.opened.context, run, 'plain', 'the service got none of it');
  expect(await start()).toMatchObject([{ run, kind: 'planned' }]);
});

test('a purge keeps a run whose rest waits, and a cancellation ends the rest', async () => {
  const run = await sendPart();
  const { pool } = scene.opened.ledger;
  const candidates = async () =>
    (
      await listPurgeCandidates(
        pool,
        { before: new Date(Date.now() + 60_000), alsoInDoubt: true },
        'unbooked too',
      )
    ).map(({ held }) => held);
  expect(await candidates()).toEqual(['open_rest']);
  await cancel(scene.opened.context, run, 'no more offers');
  expect(await candidates()).toEqual([null]);
  await observe();
  expect(await start()).toEqual([]);
  expect(await query('SELECT state FROM runs')).toEqual([{ state: 'completed' }]);
  expect(await problemsRejected(() => promoteVariant(scene.opened.context, run, 'other', 'shorter'))).toEqual(
    [`run ${run}: No part of it waits for a winner.`],
  );
  expect(await problemsRejected(() => cancel(scene.opened.context, run, 'again'))).toEqual([
    `run ${run}: The run is completed already; there is nothing to stop.`,
  ]);
});

test('a rest that is cancelled while it is planned gets no run', async () => {
  const run = await sendPart();
  await promoteVariant(scene.opened.context, run, 'other', 'shorter');
  await Promise.allSettled([start(), cancel(scene.opened.context, run, 'no more offers')]);
  const rows = await query<{ rest: string | null; kept: boolean }>(
    'SELECT rest_run AS rest, source IS NOT NULL AS kept FROM run_rests',
  );
  const [{ rest, kept } = { rest: null, kept: true }] = rows;
  expect(rest === null).toBe(!kept);
  expect(await query('SELECT count(*)::integer AS runs FROM runs')).toEqual([
    { runs: rest === null ? 1 : 2 },
  ]);
});

test('another run of the campaign is planned with a warning of the rest, and the refusal of a repetition does not advise to send it', async () => {
  const run = await sendPart();
  const found: PlanFindings[] = [];
  const plan = async (text: string) => {
    await scene.workspace.write('campaign.yaml', text.replace(', repeat: allow', ''));
    const prepared = await prepareCampaign('campaign.yaml', scene.settings, { keeps: 'files' });
    return planRun(scene.opened.context, prepared, { events: { onFound: (each) => found.push(each) } });
  };
  const [repetition] = await problemsRejected(() => plan(campaign()));
  expect(repetition).toContain(`Run ${run} has the same message`);
  expect(repetition).not.toContain('--of');
  await plan(campaign().replace('Reference: other', 'Reference: third'));
  expect(found.find(({ unfinished }) => unfinished)?.unfinished).toContain(
    `Run ${run} of this campaign is completed and can still send to its own recipients. \`volley cancel ${run}\` ends it.`,
  );
});

test('the run of a tick is not over before its rest is sent', async () => {
  const run = await sendPart();
  const { pool } = scene.opened.ledger;
  await query(`
    INSERT INTO schedules (schedule, campaign, times, recorded_until, active)
    VALUES ('night.yaml', 'test', '{}', now(), true)
  `);
  await query(`
    INSERT INTO ticks (schedule, due_at, state, run_id)
    VALUES ('night.yaml', now() - interval '1 day', 'started', '${run}'), ('night.yaml', now(), 'due', NULL)
  `);
  const unfinished = async () => (await listDueTicks(pool)).map(({ unfinishedRun }) => unfinishedRun);
  expect(await unfinished()).toEqual([run]);
  await promoteVariant(scene.opened.context, run, 'other', 'shorter');
  const [started] = await start();
  const rest = started?.kind === 'planned' ? started.restRun : undefined;
  expect(await unfinished()).toEqual([rest]);
  await scene.send(rest ?? '');
  expect(await unfinished()).toEqual([null]);
});

test('the figures of variants add up to those of the run, also where Volley 0.3.0 divided requests', async () => {
  const run = await sendPart();
  const { pool } = scene.opened.ledger;
  const before = await readVariantResults(pool, run);
  const { recipients } = await requireSummary(scene.opened.context, run);
  const sum = before.reduce((total, each) => total + each.accepted + each.unknown, 0);
  expect(sum).toBe(recipients.total);
  expect(before.map(({ variant }) => variant)).toEqual([1, 2]);
  // Its statement that divides requests knows no variants.
  await query('UPDATE slices SET variant = NULL WHERE variant = 2');
  expect(await readVariantResults(pool, run)).toEqual(before);
});

test('a campaign whose shares are all contacts of its files waits for no winner', async () => {
  await scene.workspace.write('contacts.csv', contactsCsv(1));
  const whole = campaign().replaceAll('share: 30%', 'share: 49.999%');
  await scene.plan(webhookNotify(), whole);
  expect(await query('SELECT run_id FROM run_rests')).toEqual([]);
});

test('the erasure of a person erases the words of a problem that name the person, and the problem stays', async () => {
  const run = await sendPart();
  const [{ address } = { address: '' }] = await query<{ address: string }>(
    `SELECT address FROM recipient_states WHERE run_id = '${run}' LIMIT 1`,
  );
  await query(`UPDATE run_rests SET problem = 'contacts.csv:3: ${address} is not valid'`);
  await erasePerson(withKey(scene.opened), address, 'asked');
  expect(await query('SELECT problem FROM run_rests')).toEqual([{ problem: 'Its words are erased.' }]);
});
