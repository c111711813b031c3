import { receiveDeliveryReports } from '../../ledger/delivery-reports/receive.ts';
import { copySuppressions } from '../../ledger/moves/copy-suppressions.ts';
import { markForwarded, pageUnmatched, readCalls } from '../../ledger/moves/forward-reports.ts';
import type { MovedAccount } from '../../ledger/moves/moved-accounts.ts';
import { findRequestsByMessageId } from '../../ledger/requests/by-message-id.ts';
import { inTransaction } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import { requireSharedHashes } from './move-account.ts';

/** An account that has moved, and the two ledgers. */
export type MovedPair = {
  readonly moved: MovedAccount;
  /** The account whose suppressions it obeys. */
  readonly suppressionAccount: string;
  /** The name of the old cell. */
  readonly cell: string;
  readonly old: EngineContext;
  readonly current: EngineContext;
};

export type Forwarded = { readonly reports: number; readonly suppressions: number };

const pageSize = 500;

/**
 * Hands reports that arrived in the current cell of an account to the cell that sent the message, and takes from there
 * the suppressions that came of them. After a kill, repeat it: a report that arrives twice counts once.
 */
export async function forwardReports(pair: MovedPair): Promise<Forwarded> {
  const { moved, cell, old, current } = pair;
  let reports = 0;
  for (let after = '0'; ; ) {
    const asked = { account: moved.account, since: moved.movedAt };
    const page = await pageUnmatched(current.ledger.pool, asked, { after, limit: pageSize });
    const messageIds = page.map(({ messageId }) => messageId);
    const known = await findRequestsByMessageId(old.ledger.pool, messageIds);
    const theirs = page.filter(({ messageId }) => known.has(messageId)).map(({ report }) => report);
    if (theirs.length > 0) {
      const calls = await readCalls(current.ledger.pool, theirs);
      await receiveDeliveryReports(old.ledger.pool, old.randomUuid(), calls);
      await markForwarded(current.ledger.pool, theirs, cell, current.now());
      reports += theirs.length;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) break;
    after = last.report;
  }
  return { reports, suppressions: await takeSuppressions(pair) };
}

async function takeSuppressions({
  moved,
  suppressionAccount,
  cell,
  old,
  current,
}: MovedPair): Promise<number> {
  return inTransaction(
    old.ledger.pool,
    (from) =>
      inTransaction(
        current.ledger.pool,
        async (to) => {
          await requireSharedHashes(from, to, { from: cell, to: moved.cell });
          return copySuppressions(from, to, suppressionAccount, moved.movedAt);
        },
        'BEGIN',
      ),
    'BEGIN READ ONLY',
  );
}
