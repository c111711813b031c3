import { type Replay, replayReports } from '../../ledger/delivery-reports/replay.ts';
import { inTransaction } from '../../ledger/session.ts';
import { noteOf } from '../audit.ts';
import type { EngineContext } from '../context.ts';

/**
 * Has reports of the inbox read again.
 *
 * @returns how many
 */
export async function replay(context: EngineContext, asked: Replay): Promise<number> {
  return inTransaction(context.ledger.pool, async (client) => {
    const reports = await replayReports(client, asked, context.now());
    const { account, since, all } = asked;
    const act = { action: 'reports replayed', subject: account, details: { since, all, reports } } as const;
    await noteOf(context, act)(client);
    return reports;
  });
}
