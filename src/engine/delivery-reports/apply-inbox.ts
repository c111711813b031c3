import { type AccountSharing, noSharing } from '../../domain/account-sharing.ts';
import {
  applyDeliveryReports,
  type FailedDeliveryReport,
} from '../../ledger/delivery-reports/apply-batch.ts';
import { type FoldFence, foldInboxBlocks, readFoldFence } from '../../ledger/delivery-reports/fold-inbox.ts';
import { moveFormerCalls, takeFormerQueue } from '../../ledger/delivery-reports/former-inbox.ts';
import { tendPartitions } from '../../ledger/delivery-reports/partitions.ts';
import { type Replay, requeueDeliveryReports } from '../../ledger/delivery-reports/queue.ts';
import { deleteBatches, deleteSignedCalls } from '../../ledger/delivery-reports/receive.ts';
import type { RawReport, ReportContent } from '../../ledger/delivery-reports/report-content.ts';
import { listUntriedProofs, markUnsentInDoubt } from '../../ledger/runs/stop.ts';
import { inTransaction } from '../../ledger/session.ts';
import { type DeliveryReport, decodeDeliveryReport } from '../../wire/delivery-report.ts';
import { type DeliveryReportMapping, observedMapping } from '../../wire/delivery-report-mapping.ts';
import { billedUnits, isStopWord } from '../../wire/delivery-report-values.ts';
import { auditEntry } from '../audit.ts';
import type { EngineContext } from '../context.ts';

export type FindMapping = (account: string) => DeliveryReportMapping;

/**
 * Half of them would take a tenth more processor time each; with twice as many, callers of the receiver wait longer: 190
 * instead of 70 ms (p99).
 */
const batchSize = 500;

/** One batch is read while the other is written. */
const parallelBatches = 2;

/** Called with a batch's duration (milliseconds). May wait, to leave the processor to others. */
type ShouldContinue = (took: number) => Promise<boolean>;

export type InboxOptions = {
  readonly findMapping: FindMapping;
  readonly sharing: AccountSharing;
  readonly shouldContinue: ShouldContinue;
  readonly onApplied: (reports: number) => void;
  readonly onFailed: (failed: FailedDeliveryReport) => void;
};

/** @returns how many delivery reports were processed */
export async function applyInbox(
  { ledger, now, monotonic }: EngineContext,
  {
    findMapping = () => observedMapping,
    sharing = noSharing,
    shouldContinue = async () => true,
    onApplied = () => undefined,
    onFailed = () => undefined,
  }: Partial<InboxOptions> = {},
): Promise<number> {
  await takeFormerQueue(ledger.pool);
  const parse = (report: RawReport): ReportContent => parseReport(report, findMapping(report.account));
  async function work(): Promise<number> {
    for (let total = 0; ; ) {
      const begun = monotonic();
      const applied = await applyDeliveryReports(ledger.pool, {
        limit: batchSize,
        parse,
        now: now(),
        sharing,
        onFailed,
      });
      total += applied;
      if (applied > 0) onApplied(applied);
      if (applied === 0 || !(await shouldContinue(monotonic() - begun))) return total;
    }
  }
  // Wait for both, also when one fails.
  const counts = await Promise.allSettled(Array.from({ length: parallelBatches }, work));
  const total = counts.reduce((sum, count) => {
    if (count.status === 'rejected') throw count.reason;
    return sum + count.value;
  }, 0);
  await doubtRunsSentElsewhere({ ledger, now });
  return total;
}

/** Longer than any receiver retries a batch (milliseconds). */
const batchRetention = 600_000;

/** Longer than a signature is valid, which is ten minutes when the sender's clock is ahead (milliseconds). */
const signedCallRetention = 1_200_000;

/**
 * Deletes expired records that detect repeated calls, and makes the next partition of the inbox. Moves some calls of
 * Volley 0.3.0 into blocks, and folds blocks of few calls.
 *
 * @param fence what the last call returned
 */
export async function tendInbox({ ledger, now }: EngineContext, fence?: FoldFence): Promise<FoldFence> {
  const ago = (milliseconds: number): Date => new Date(now().getTime() - milliseconds);
  await deleteBatches(ledger.pool, ago(batchRetention));
  await deleteSignedCalls(ledger.pool, ago(signedCallRetention));
  await tendPartitions(ledger.pool, now());
  await moveFormerCalls(ledger.pool);
  if (fence) await foldInboxBlocks(ledger.pool, now(), fence);
  return readFoldFence(ledger.pool);
}

/** What another ledger may have sent becomes in doubt, and its runs pause. */
async function doubtRunsSentElsewhere({ ledger, now }: Pick<EngineContext, 'ledger' | 'now'>): Promise<void> {
  for (const { run, reason } of await listUntriedProofs(ledger.pool)) {
    const time = now();
    await markUnsentInDoubt(await ledger.queue(), ledger.pool, run, { reason, since: time, now: time });
  }
}

/** Never throws, because any caller may send anything. Look-up answers use the observed field names. */
function parseReport(
  { method, contentType, body }: RawReport,
  mapping: DeliveryReportMapping,
): ReportContent {
  const decoded =
    method === 'LOOK-UP'
      ? decodeDeliveryReport(
          { method: 'POST', contentType, body },
          { ...observedMapping, credits: mapping.credits },
        )
      : decodeDeliveryReport({ method, contentType, body }, mapping);
  switch (decoded.kind) {
    case 'inbound': {
      const { messageId = null, jobNumber = null, from, text, subAccount = '' } = decoded.message;
      return {
        kind: 'inbound',
        messageId,
        jobNumber,
        address: from,
        text,
        subAccount,
        optedOut: isStopWord(text, mapping.stopWords),
      };
    }
    case 'report':
      return readDelivery(decoded.report);
    case 'several':
    case 'unreadable':
      return decoded;
  }
}

function readDelivery(delivery: DeliveryReport): ReportContent {
  const { outcome, status, optedOut } = delivery;
  if (outcome === 'unrecognised') return { kind: 'unreadable', why: `unknown Status "${status}"` };
  return {
    kind: 'delivery',
    messageId: delivery.messageId ?? null,
    jobNumber: delivery.jobNumber ?? null,
    address: delivery.destination,
    outcome,
    status,
    result: delivery.result || null,
    sentAt: delivery.sentTimeUtc ?? null,
    units: billedUnits(delivery),
    price: delivery.price ?? null,
    parseProblem: delivery.unread ?? null,
    optedOut,
  };
}

export async function replayDeliveryReports(context: EngineContext, filter: Replay): Promise<number> {
  return inTransaction(context.ledger.pool, async (client) => {
    const reports = await requeueDeliveryReports(client, filter, context.now());
    const { account, since, all } = filter;
    const entry = {
      action: 'delivery reports replayed',
      subject: account,
      details: { since, all, reports },
    } as const;
    await auditEntry(context, entry)(client);
    return reports;
  });
}
