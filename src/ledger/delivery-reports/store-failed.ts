import { batchOf } from '../batch.ts';
import type { Transaction } from '../session.ts';
import { decideOutcomes, listEarlierRecipients, lockOutcomes } from './decide.ts';
import type { RawReport } from './report-content.ts';
import { replaceEarlierReport } from './store-deliveries.ts';

export type FailedDeliveryReport = Pick<RawReport, 'report' | 'account' | 'receivedAt'> & {
  /** SQLSTATE of the ledger's refusal, or the name of the parser's error. */
  readonly code: string;
};

const failedColumns = batchOf<FailedDeliveryReport>({
  report_id: ['bigint', ({ report }) => report],
  account: ['text', ({ account }) => account],
  received_at: ['timestamptz', ({ receivedAt }) => receivedAt],
  code: ['text', ({ code }) => `the ledger refuses it (${code})`],
});

/**
 * Marks reports as `failed`, and decides outcomes of earlier readings again without them. They are dead letters: only an
 * operator's replay reads them again.
 */
export async function storeFailed(
  client: Transaction,
  failed: readonly FailedDeliveryReport[],
): Promise<void> {
  if (failed.length === 0) return;
  const reports = failed.map(({ report }) => report);
  const before = await listEarlierRecipients(client, reports);
  await lockOutcomes(client, before);
  await client.query(
    `
    INSERT INTO unusual_delivery_reports (report_id, account, received_at, state, detail)
    SELECT report_id, account, received_at, 'failed', code
    FROM ${failedColumns.table('f')}
    ${replaceEarlierReport}
    `,
    failedColumns.values(failed),
  );
  await decideOutcomes(client, [], new Map(), before);
}
