import type { ClaimMark } from '../../domain/claim-marks.ts';
import { type HoldReason, heldLedgerAdvice } from '../../domain/hold-reasons.ts';
import { InputError } from '../../domain/problems.ts';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { Ledger } from '../../ledger/connection.ts';
import {
  type ClaimFence,
  findMissingClaim,
  holdLedger,
  type LedgerLocation,
  readLocation,
  readServerLocation,
  recordLocation,
} from '../../ledger/location/location.ts';
import { listUnfinishedRuns } from '../../ledger/runs/find.ts';
import { pauseRun } from '../../ledger/runs/stop.ts';
import type { EngineContext } from '../context.ts';
import type { OutageRetry } from './outage-retry.ts';

/**
 * Puts a hold on a ledger that could repeat requests: it lacks this machine's last claim, so it was restored from a
 * backup; or its server, timeline or database has changed. A hold pauses the running runs and stops all claims.
 *
 * @returns `onHold`: why nothing can be sent; null if the ledger is not on hold
 */
export async function checkLedgerLocation(context: EngineContext) {
  const { ledger, now } = context;
  const { pool, marks } = ledger;
  const { found, here, older, reason } = await findHold(ledger);
  // Also on hold: this machine may know of a claim that the ledger lacks.
  if (!found.incomplete) {
    if (reason === null) {
      if (found.location === null && here !== null) await recordLocation(pool, here);
      marks.prune(found.ledger);
      return { ledger: found.ledger, location: here, onHold: null };
    }
    await holdLedger(pool, { reason, incomplete: older !== null }, now());
  }
  const { ledger: id, location, holdReason } = await readLocation(pool);
  if (holdReason !== null) await pauseRunningRuns(context, holdReason);
  return { ledger: id, location, onHold: formatReasonOrNull(holdReason) };
}

/**
 * Reads whether the ledger is or must be on hold, and changes nothing.
 *
 * @returns `here`: see `readServerLocation`; `older`: what it lacks that is known to have been done; `reason`: why it is or
 *   must be on hold; null: it need not be
 */
export async function findHold({ pool, marks }: Pick<Ledger, 'pool' | 'marks'>) {
  const found = await readLocation(pool);
  const here = await readServerLocation(pool);
  const older = await findOlder(pool, marks, found.ledger, here);
  return { found, here, older, reason: older ?? found.holdReason ?? reasonIfMoved(found, here) };
}

async function findOlder(
  pool: Ledger['pool'],
  marks: Ledger['marks'],
  ledger: string,
  here: string | null,
): Promise<HoldReason | null> {
  // An operator has given the ledger a new id. Its backup, with the old id, is put on hold, but no copy elsewhere.
  if (marks.replacedAt(ledger)?.location === here) return { kind: 'former_backup' };
  const missing = await findMissingClaim(pool, marks.read(ledger));
  return missing ? { kind: 'lacks_claim', at: missing.at } : null;
}

async function pauseRunningRuns({ ledger }: EngineContext, hold: HoldReason): Promise<void> {
  const unfinished = await listUnfinishedRuns(ledger.pool);
  for (const { run } of unfinished.filter(({ state }) => state === 'running'))
    await pauseRun(await ledger.queue(), ledger.pool, run, { reason: { kind: 'ledger_held', hold } });
}

/** @throws InputError if the ledger is on hold */
export async function requireSendableLedger(context: EngineContext): Promise<void> {
  const { onHold } = await checkLedgerLocation(context);
  if (onHold === null) return;
  throw new InputError([
    {
      where: 'ledger',
      what: `${onHold} Nothing is sent until an operator releases the ledger: ${heldLedgerAdvice}`,
    },
  ]);
}

/** Returns null without a known location, because there is nothing to compare. */
function reasonIfMoved({ location }: LedgerLocation, here: string | null): HoldReason | null {
  if (location === null || here === null || location === here) return null;
  const was = location.split('/');
  const is = here.split('/');
  const parts = ['other_server', 'other_timeline', 'other_database'] as const;
  const at = was.findIndex((part, index) => part !== is[index]);
  return { kind: parts[at] ?? 'other_database', was: was[at] ?? '', is: is[at] ?? '' };
}

/** The ledger that this process claims from, and its last claim there. */
export type CurrentClaimFence = ReturnType<typeof createClaimFence>;

export function createClaimFence(context: EngineContext, { retry }: OutageRetry, ledger: string) {
  const { marks } = context.ledger;
  let fence: ClaimFence = { ledger, last: null };
  return {
    current: (): ClaimFence => fence,
    /** Call it before any of their requests is sent. */
    markClaims(claims: readonly Omit<ClaimMark, 'at'>[], now: Date): void {
      const made = claims.map(({ run, slice, owner, version }) => {
        return { run, slice, owner, version, at: now.toISOString() };
      });
      marks.write(fence.ledger, made);
      fence = { ...fence, last: made[0] ?? fence.last };
    },
    /** After a refused claim: the ledger may be older than the last claim, or have a new id. */
    async refresh(): Promise<void> {
      const found = await retry(() => checkLedgerLocation(context));
      if (found.onHold !== null || found.ledger === fence.ledger) return;
      marks.markReplaced(fence.ledger, found.location);
      fence = { ledger: found.ledger, last: null };
    },
  };
}
