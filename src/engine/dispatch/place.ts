import type { ClaimMark } from '../../domain/claim-marks.ts';
import { InputError } from '../../domain/problems.ts';
import {
  findMissingClaim,
  holdLedger,
  type LedgerPlace,
  listRunsIn,
  readPlace,
  serverPlace,
  settlePlace,
} from '../../ledger/place/place.ts';
import { pauseRun } from '../../ledger/runs/stop.ts';
import type { EngineContext } from '../context.ts';

/** What the ledger was found to be. */
export type CheckedPlace = {
  readonly ledger: string;
  /** As `serverPlace`. */
  readonly place: string | null;
  /** Why nothing is sent from it; null where it can be. */
  readonly held: string | null;
};

/** What to do about a ledger that is held. */
export const heldAdvice =
  '`volley db restored --since TIME --reason …` puts what may have been sent in doubt and goes on (docs/backup.md).';

/**
 * Holds the ledger where it is not the one that this machine claimed from last: one that lacks those claims was restored
 * from a backup, and what it would send may have been sent. So may what is in one that is on another server, in another
 * database or on another timeline than it was. Nothing is claimed from a ledger that is held, and its runs are paused.
 */
export async function checkPlace(context: EngineContext): Promise<CheckedPlace> {
  const { ledger, now } = context;
  const { pool, marks } = ledger;
  const found = await readPlace(pool);
  // One that is held may be found to lack something all the same, by a machine that knows more.
  if (!found.incomplete) {
    const here = await serverPlace(pool);
    const older =
      whySucceeded(marks.succeededAt(found.ledger), here) ??
      whyOlder(await findMissingClaim(pool, marks.read(found.ledger)));
    const reason = older ?? found.heldReason ?? whyElsewhere(found, here);
    if (reason === null) {
      if (found.place === null && here !== null) await settlePlace(pool, here);
      marks.forget(found.ledger);
      return { ledger: found.ledger, place: here, held: null };
    }
    await holdLedger(pool, { reason, incomplete: older !== null }, now());
  }
  const { ledger: id, place, heldReason } = await readPlace(pool);
  if (heldReason !== null) await pauseRunning(context, heldReason);
  return { ledger: id, place, held: heldReason };
}

async function pauseRunning({ ledger }: EngineContext, reason: string): Promise<void> {
  for (const run of await listRunsIn(ledger.pool, ['running']))
    await pauseRun(await ledger.queue(), ledger.pool, run, `${reason} ${heldAdvice}`);
}

/** @throws InputError when nothing is to be sent from the ledger */
export async function requirePlace(context: EngineContext): Promise<void> {
  const { held } = await checkPlace(context);
  if (held === null) return;
  throw new InputError([{ where: 'ledger', what: `${held} Nothing is sent until then: ${heldAdvice}` }]);
}

/** A copy in another place, which an operator has made a ledger of its own, says nothing of the one that was copied. */
function whySucceeded(
  succeeded: { readonly place: string | null } | undefined,
  here: string | null,
): string | null {
  if (!succeeded || succeeded.place !== here) return null;
  return 'An operator has said since that this ledger was restored, and now it is as it was before: an older backup was brought back in its place.';
}

/** It names no run: whoever may see any run is told why nothing of it is sent. */
function whyOlder(missing: ClaimMark | undefined): string | null {
  if (!missing) return null;
  return `This machine claimed a request at ${missing.at} that the ledger does not know: it was restored from a backup, or is a copy.`;
}

/** A server that does not tell where it is cannot be told from another. */
function whyElsewhere({ place }: LedgerPlace, here: string | null): string | null {
  if (place === null || here === null || place === here) return null;
  const [was, is] = [place.split('/'), here.split('/')];
  if (was[0] !== is[0])
    return `The ledger was on another server (system identifier ${was[0]}, now ${is[0]}): it was restored from a backup, copied or moved.`;
  if (was[1] !== is[1])
    return `The server is on another timeline (${was[1]}, now ${is[1]}): a stand-by was promoted, or a backup restored, and may lack the last claims.`;
  return `The ledger was another database of this server (number ${was[2]}, now ${is[2]}): it was restored from a dump, or is a copy.`;
}
