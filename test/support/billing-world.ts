import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Ledger } from '../../src/ledger/connection.ts';
import { applyDeliveryReports } from '../../src/ledger/delivery-reports/apply-batch.ts';
import { requeueDeliveryReports } from '../../src/ledger/delivery-reports/queue.ts';
import { advanceSlices } from '../../src/ledger/requests/advance.ts';
import { doubtRepeatedNumbers, markPlannedInDoubt } from '../../src/ledger/requests/doubt.ts';
import { cancelPlanned } from '../../src/ledger/requests/release.ts';
import { acceptLookedUp, resendDoubts, resolveRequests } from '../../src/ledger/requests/resolve.ts';
import { markCancelled, markResumed, markUnrecorded } from '../../src/ledger/run-states/transitions.ts';
import { inTransaction } from '../../src/ledger/session.ts';
import { markClosed } from '../../src/ledger/slice-states/transitions.ts';
import { addSuppressions } from '../../src/ledger/suppressions/add.ts';
import { readReport, reportRecipients, reportWhole } from './billing-reports.ts';
import type { BillingStep, SentEnd } from './billing-steps.ts';
import { claimRequests, markUnrecordedInDoubt, releaseSettledSlices, settleRequests } from './claims.ts';
import { emptyLedger } from './empty-ledger.ts';
import { foldAll } from './fold-outcomes.ts';
import { aContact, anEnvelope, aRun, planContacts } from './ledger.ts';
import { startNextAttempt } from './requests.ts';

/** Performs the steps of a history in a ledger. */

export type World = {
  readonly ledger: Ledger;
  readonly runs: string[];
  now: Date;
};

export async function createWorld(ledger: Ledger, begin: string): Promise<World> {
  await emptyLedger(ledger.pool);
  return { ledger, runs: [], now: new Date(begin) };
}

const owner = '00000000-0000-4000-8000-000000000001';

/** A millisecond later: a request never gets two outcomes in the same one. */
export async function performNextStep(world: World, step: BillingStep, pool?: pg.Pool): Promise<void> {
  world.now = new Date(world.now.getTime() + 1);
  await performStep(world, step, pool);
}

/**
 * Except booking and closing.
 *
 * @param pool instead of the ledger's own
 */
export async function performStep(world: World, step: BillingStep, pool = world.ledger.pool): Promise<void> {
  const { runs, now } = world;
  switch (step.kind) {
    case 'plan':
      runs.push(await plan(world, step));
      return;
    case 'wait':
      world.now = new Date(now.getTime() + step.minutes * 60_000);
      return;
    case 'report':
      await reportRecipients(pool, step.reports, now);
      return;
    case 'replay':
      await requeueDeliveryReports(pool, { all: true }, now);
      await applyDeliveryReports(pool, { limit: 100, parse: readReport, now });
      return;
    case 'fold':
      await foldAll(pool);
      return;
    case 'suppress':
      await addSuppressions(pool, [
        {
          channel: 'sms',
          address: addressOf(step.line),
          subAccount: '',
          reason: 'asked',
          source: 'operator',
          createdAt: now,
        },
      ]);
      return;
    case 'book':
    case 'close':
      return;
    default: {
      const run = runs[step.run % Math.max(runs.length, 1)];
      if (run !== undefined) await performRunStep(pool, run, step, now);
    }
  }
}

/** The last digit of the address decides the tariff. */
async function plan(
  { ledger, now }: World,
  step: Extract<BillingStep, { readonly kind: 'plan' }>,
): Promise<string> {
  const { channel, payers, contacts, chunkSize, rates } = step;
  const run = aRun({ channel, chunkSize, rates, createdAt: now });
  const rows = Array.from({ length: contacts }, (_, index) => {
    const envelope = anEnvelope({ Message: 'Hello', ...payers[index % payers.length] });
    return aContact(index + 2, { envelope });
  });
  const tariffs = rates?.tariffs.length ?? 1;
  const tariffOf = tariffs > 1 ? (address: string) => Number(address.at(-1)) % tariffs : null;
  return planContacts(ledger, run, rows, { partsOf: channel === 'sms' ? () => 2 : () => null, tariffOf });
}

function addressOf(line: number): string {
  const contact = aContact(line);
  return contact.kind === 'contact' ? contact.address : '';
}

type StepOfRun = Extract<BillingStep, { readonly run: number }>;

async function performRunStep(pool: pg.Pool, run: string, step: StepOfRun, now: Date): Promise<void> {
  const endsRun = step.kind === 'cancel' || step.kind === 'restore';
  if (endsRun && (await isOver(pool, run))) return;
  switch (step.kind) {
    case 'send': {
      const { claimed } = await claimRequests(pool, { run, owner, limit: step.requests, now });
      await settleAll(pool, run, claimed, step.ends, now);
      return;
    }
    case 'answer': {
      const open = await listRequests(pool, run, ['sending', 'in_doubt']);
      await settleAll(pool, run, open, step.ends, now);
      return;
    }
    case 'retry': {
      const outcome = { run, owner, httpStatus: 503, detail: 'busy', finishedAt: now, now };
      for (const sending of await listRequests(pool, run, ['sending'])) {
        await startNextAttempt(pool, { ...outcome, ...sending });
      }
      return;
    }
    case 'reportWhole':
      return reportWhole(pool, run, now);
    case 'doubt':
      await markUnrecordedInDoubt(pool, run, now);
      return;
    case 'doubtRepeated':
      await inTransaction(pool, (client) => doubtRepeatedNumbers(client, { run }, now));
      return;
    case 'giveBack':
      await releaseClaims(pool, run, now);
      return;
    case 'resolve': {
      const resolved = { run, requests: 'all', by: 'ann', reason: 'seen', now } as const;
      await inTransaction(pool, (client) =>
        resolveRequests(client, { ...resolved, resolution: step.resolution }),
      );
      await inTransaction(pool, (client) => markResumed(client, run));
      return;
    }
    case 'lookUp':
      for (const { request } of await listRequests(pool, run, ['in_doubt'])) {
        await acceptLookedUp(pool, { run, request, now });
      }
      return;
    case 'resend':
      await resend(pool, run, now);
      return;
    case 'restore':
      await inTransaction(pool, async (client) => {
        const reason = { kind: 'ledger_restored', since: now.toISOString(), words: 'disk lost' } as const;
        await markUnrecorded(client, run, reason);
        await markPlannedInDoubt(client, run, { reason, since: now }, now);
        await markResumed(client, run);
      });
      await releaseSettledSlices(pool, run);
      return;
    case 'cancel':
      await inTransaction(pool, async (client) => {
        await markCancelled(client, run, 'asked', now);
        await cancelPlanned(client, run, now, null);
        await markClosed(client, run);
      });
  }
}

async function isOver(pool: pg.Pool, run: string): Promise<boolean> {
  const { rowCount } = await pool.query(`SELECT FROM runs WHERE run_id = $1 AND state = 'cancelled'`, [run]);
  return rowCount === 1;
}

type Sent = { readonly request: number; readonly attempt: number };

async function listRequests(pool: pg.Pool, run: string, states: readonly string[]): Promise<Sent[]> {
  const { rows } = await pool.query<Sent>(
    `SELECT request, attempts AS attempt FROM request_states WHERE run_id = $1 AND state = ANY ($2) ORDER BY request`,
    [run, states],
  );
  return rows;
}

async function settleAll(
  pool: pg.Pool,
  run: string,
  requests: readonly Sent[],
  ends: readonly SentEnd[],
  now: Date,
): Promise<void> {
  const reported = await listReported(pool, run);
  for (const [index, { request, attempt }] of requests.entries()) {
    const outcome = outcomeOf(ends[index] ?? 'lost', reported.has(request));
    if (!outcome) continue;
    const words = { request, attempt, finishedAt: now, httpStatus: null, detail: 'of the service' };
    await settleRequests(pool, run, owner, [{ ...words, ...outcome }]);
  }
}

function outcomeOf(end: SentEnd, reported: boolean) {
  if (end === 'lost') return undefined;
  if (end === 'divided') return { state: 'rejected', divide: true } as const;
  if (end === 'busy') return { state: 'planned', verdict: 'released' } as const;
  if (end === 'numbered') {
    const jobNumber = '7';
    return { state: 'accepted', jobNumber, detail: { kind: 'job_number', jobNumber } } as const;
  }
  if (end !== 'released') return { state: end } as const;
  // The service reports only accepted requests.
  return reported ? undefined : ({ state: 'planned', verdict: 'released' } as const);
}

async function listReported(pool: pg.Pool, run: string): Promise<ReadonlySet<number>> {
  const { rows } = await pool.query<{ request: number }>(
    'SELECT request FROM all_recipient_outcomes WHERE run_id = $1',
    [run],
  );
  return new Set(rows.map(({ request }) => request));
}

/** Releases a slice's claim after its last request with an answer, a report or a row. */
async function releaseClaims(pool: pg.Pool, run: string, now: Date): Promise<void> {
  const { rows } = await pool.query<{
    slice: number;
    owner: string;
    version: number;
    after: number;
    to: number;
  }>(
    `SELECT s.slice, s.owner, s.version + 1 AS version, s.claimed_to AS after, (
              SELECT coalesce(max(q.request), s.first_request - 1)
              FROM requests_between(s.run_id, s.first_request, s.claimed_to) q
              WHERE EXISTS (SELECT FROM requests r WHERE r.run_id = s.run_id AND r.request = q.request)
                OR EXISTS (SELECT FROM recipient_outcomes_between(s.run_id, q.request, q.request))
                OR q.state <> 'sending'
            ) AS to
     FROM slices s
     WHERE s.run_id = $1 AND s.state = 'held' AND s.phase = 'sending'`,
    [run],
  );
  for (const { after, to, ...slice } of rows) {
    await advanceSlices(pool, [{ run, ...slice, claim: { after, to, epoch: '0' }, accepted: [] }], now, null);
  }
  await releaseSettledSlices(pool, run);
}

/** As the worker that owns the phase for requests in doubt. */
async function resend(pool: pg.Pool, run: string, now: Date): Promise<void> {
  const settler = randomUUID();
  const ofPhase = `WHERE run_id = $1 AND phase = 'settling doubts'`;
  await pool.query(
    `UPDATE slices SET state = 'held', job = gen_random_uuid(), worker = $2, owner = $2 ${ofPhase}`,
    [run, settler],
  );
  await resendDoubts(pool, { run, owner: settler, resends: 2 }, now);
  await pool.query(
    `UPDATE slices SET state = 'waiting', job = NULL, worker = NULL, owner = NULL ${ofPhase}`,
    [run],
  );
}
