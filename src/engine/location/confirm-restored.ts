import { storedSchedule, ticksBetween } from '../../campaign/schedule.ts';
import type { BegunRun } from '../../domain/claim-marks.ts';
import { InputError } from '../../domain/problems.ts';
import { formatReason } from '../../domain/reasons.ts';
import {
  findMissingClaim,
  holdLedger,
  readLocation,
  readServerLocation,
  releaseLedger,
} from '../../ledger/location/location.ts';
import { recordQuestion } from '../../ledger/run-states/transitions.ts';
import { listUnfinishedRuns } from '../../ledger/runs/find.ts';
import { markUnsentInDoubt } from '../../ledger/runs/stop.ts';
import { lockSchedules, markDueTicksMissed, recordTicks } from '../../ledger/schedules/ticks.ts';
import { inTransaction, type Transaction } from '../../ledger/session.ts';
import { askAboutAllRests } from '../../ledger/watch/rests.ts';
import { audited } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { findLostRuns } from '../dispatch/begun-runs.ts';
import { maxTicks } from '../schedule/record-schedules.ts';

type Restoration = {
  readonly reason: string;
  /** Time of the backup: later writes may be missing. Null: nothing is. */
  readonly since: Date | null;
};

/** `requests`: how many became in doubt. */
type DoubtedRun = { readonly run: string; readonly requests: number };

type Restored = {
  readonly doubted: readonly DoubtedRun[];
  /**
   * What this machine sent and the ledger lacks: runs of the ledger's former identity, and runs of any other ledger
   * with this VOLLEY_HOME since the backup. The newest first.
   */
  readonly lost: readonly BegunRun[];
};

/**
 * Accepts a restored ledger, on an operator's decision. Everything unsent may have been sent since the backup, so it
 * becomes in doubt and its runs pause. Ticks since then are missed. A person decides about contacts that wait for a winner. A new identity detaches the ledger from claims of
 * the former one.
 *
 * @throws InputError for a future time, or when this machine knows a claim that is missing
 */
export async function confirmRestored(
  context: EngineContext,
  { reason, since }: Restoration,
): Promise<Restored> {
  const { ledger, now } = context;
  const entry = {
    action: 'ledger restored',
    details: { reason, since: since?.toISOString() ?? null },
  } as const;
  return audited(context, entry, async (addAuditEntry) => {
    if (since !== null && since > now()) {
      const what = `${since.toISOString()} is in the future; give the time at which the backup was made.`;
      throw new InputError([{ where: '--since', what }]);
    }
    const { ledger: former } = await readLocation(ledger.pool);
    const lost = (await findLostRuns(ledger.pool, ledger.marks, now())).filter(
      (run) => run.ledger === former || (since !== null && run.at >= since.toISOString()),
    );
    if (since === null) await requireNothingMissing(context, lost);
    const hold = { kind: 'being_restored', words: reason } as const;
    await holdLedger(ledger.pool, { reason: hold, incomplete: false }, now());
    const doubted = since === null ? [] : await doubtUnsentRequests(context, { reason, since });
    const location = await readServerLocation(ledger.pool);
    await inTransaction(ledger.pool, async (client) => {
      if (since !== null) {
        await missTicks(client, reason, now());
        await askAboutRests(client, reason, now());
      }
      await releaseLedger(client, context.randomUuid(), location);
      await addAuditEntry(client);
    });
    ledger.marks.markReplaced(former, location);
    return { doubted, lost };
  });
}

async function requireNothingMissing(
  { ledger: { pool, marks } }: EngineContext,
  [lost]: Restored['lost'],
): Promise<void> {
  const { ledger, incomplete, holdReason } = await readLocation(pool);
  const refuse = (why: string): never => {
    const what = `${why} Give --since with the time of the backup instead.`;
    throw new InputError([{ where: '--nothing-missing', what }]);
  };
  if (incomplete) refuse(holdReason === null ? '' : formatReason(holdReason));
  const missing = await findMissingClaim(pool, marks.read(ledger));
  if (missing) {
    const { run, slice, version, at } = missing;
    refuse(
      `This machine made claim ${version} of slice ${slice} of run ${run} at ${at}, and the ledger lacks it.`,
    );
  }
  if (lost)
    refuse(
      `This machine sent run ${lost.run} of campaign ${lost.campaign} at ${lost.at}, and the ledger lacks it.`,
    );
}

async function doubtUnsentRequests(
  { ledger, now }: EngineContext,
  { reason, since }: { readonly reason: string; readonly since: Date },
): Promise<DoubtedRun[]> {
  const why = { kind: 'ledger_restored', since: since.toISOString(), words: reason } as const;
  const doubted: DoubtedRun[] = [];
  for (const { run } of await listUnfinishedRuns(ledger.pool)) {
    const requests = await markUnsentInDoubt(await ledger.queue(), ledger.pool, run, {
      reason: why,
      since,
      now: now(),
    });
    if (requests !== undefined) doubted.push({ run, requests });
  }
  return doubted;
}

/** The former ledger may have sent them. */
async function askAboutRests(client: Transaction, reason: string, now: Date): Promise<void> {
  const why = `The ledger was restored (${reason}), and the rest may have been sent since the backup.`;
  for (const run of await askAboutAllRests(client, why))
    await recordQuestion(
      client,
      run,
      'the ledger was restored, and a person decides what the rest gets',
      now,
    );
}

/** The former ledger may have sent their runs. */
async function missTicks(client: Transaction, reason: string, now: Date): Promise<void> {
  const why = { kind: 'ledger_restored_since', words: reason } as const;
  await markDueTicksMissed(client, why);
  const locked = await lockSchedules(client, now);
  const ticks = locked.flatMap(({ schedule, times, recordedUntil }) =>
    ticksBetween(storedSchedule.parse(times), recordedUntil, now, maxTicks).map((dueAt) => {
      return { schedule, dueAt, state: 'missed', reason: why } as const;
    }),
  );
  await recordTicks(
    client,
    locked.map(({ schedule }) => schedule),
    ticks,
    now,
  );
}
