import { receiveDeliveryReports } from '../../ledger/delivery-reports/receive.ts';
import { copySuppressions } from '../../ledger/moves/copy-suppressions.ts';
import { markForwarded, pageUnmatched, readCalls } from '../../ledger/moves/moves.ts';
import { findRequestsByMessageId } from '../../ledger/requests/by-message-id.ts';
import { inTransaction } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import { requireSharedHashes } from './move-account.ts';

/** A ledger that an account has left, and another where its reports arrive. */
export type LedgerPair = {
  readonly old: EngineContext;
  readonly current: EngineContext;
  /** Names of the cells. */
  readonly cells: { readonly old: string; readonly current: string };
};

const pageSize = 500;

/**
 * Hands reports of an account that arrived in the current ledger to the old one, if that sent the message. After a kill,
 * repeat it: a report that arrives twice counts once.
 *
 * @returns the number of reports
 */
export async function forwardReports(account: string, { old, current, cells }: LedgerPair): Promise<number> {
  let forwarded = 0;
  for (let after = '0'; ; ) {
    const page = await pageUnmatched(current.ledger.pool, account, { after, limit: pageSize });
    const messageIds = page.map(({ messageId }) => messageId);
    const known = await findRequestsByMessageId(old.ledger.pool, messageIds);
    const theirs = page.filter(({ messageId }) => known.has(messageId)).map(({ report }) => report);
    // Without those whose raw call was purged meanwhile.
    const calls = theirs.length > 0 ? await readCalls(current.ledger.pool, theirs) : [];
    if (calls.length > 0) {
      await receiveDeliveryReports(old.ledger.pool, old.randomUuid(), calls);
      const read = calls.map(({ report }) => report);
      await markForwarded(current.ledger.pool, read, cells.old, current.now());
      forwarded += calls.length;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) break;
    after = last.report;
  }
  return forwarded;
}

/** Milliseconds. Longer than any transaction: `created_at` is a time before its end, by another clock. */
const overlap = 24 * 60 * 60 * 1_000;

/**
 * Takes from the old ledger the suppressions that came of forwarded reports, or were being added during the move.
 *
 * @param account the account whose suppressions the moved one obeys
 * @returns the number of new ones
 */
export async function takeSuppressions(
  account: string,
  movedAt: Date,
  { old, current, cells }: LedgerPair,
): Promise<number> {
  const since = new Date(Number(movedAt) - overlap);
  return inTransaction(
    old.ledger.pool,
    (from) =>
      inTransaction(
        current.ledger.pool,
        async (to) => {
          await requireSharedHashes(from, to, { from: cells.old, to: cells.current });
          return copySuppressions(from, to, account, since);
        },
        'BEGIN',
      ),
    'BEGIN READ ONLY',
  );
}
