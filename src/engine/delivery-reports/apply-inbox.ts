import { type AccountSharing, noSharing } from '../../domain/account-sharing.ts';
import { applyReports } from '../../ledger/delivery-reports/apply-batch.ts';
import { deleteBatches, deleteSignedCalls } from '../../ledger/delivery-reports/receive.ts';
import { type Replay, replayReports } from '../../ledger/delivery-reports/replay.ts';
import type { RawReport, ReportContent } from '../../ledger/delivery-reports/report-content.ts';
import type { FailedReport } from '../../ledger/delivery-reports/store-failed.ts';
import { listUntriedProofs, markUnsentInDoubt } from '../../ledger/runs/stop.ts';
import { inTransaction } from '../../ledger/session.ts';
import { type DeliveryReport, decodeDeliveryReport } from '../../wire/delivery-report.ts';
import { type DeliveryReportMapping, observedMapping } from '../../wire/delivery-report-mapping.ts';
import { billedUnits } from '../../wire/delivery-report-values.ts';
import { isStopWord } from '../../wire/stop-words.ts';
import { auditEntry } from '../audit.ts';
import type { EngineContext } from '../context.ts';

export type MappingOf = (account: string) => DeliveryReportMapping;

const batchSize = 500;

/** Batches under way at once: one is read while the other is written. */
const parallelBatches = 2;

/**
 * Asked after a batch that took so long (milliseconds): waits, where others need the processor more, and says whether to
 * go on.
 */
export type ShouldContinue = (took: number) => Promise<boolean>;

export type InboxOptions = {
  readonly mappingOf: MappingOf;
  readonly sharing: AccountSharing;
  readonly shouldContinue: ShouldContinue;
  readonly onApplied: (reports: number) => void;
  readonly onFailed: (failed: FailedReport) => void;
};

/** @returns how many were looked at */
export async function applyInbox(
  { ledger, now, monotonic }: EngineContext,
  {
    mappingOf = () => observedMapping,
    sharing = noSharing,
    shouldContinue = async () => true,
    onApplied = () => undefined,
    onFailed = () => undefined,
  }: Partial<InboxOptions> = {},
): Promise<number> {
  const read = (report: RawReport): ReportContent => readReport(report, mappingOf(report.account));
  async function work(): Promise<number> {
    for (let total = 0; ; ) {
      const begun = monotonic();
      const taken = await applyReports(ledger.pool, batchSize, read, now(), { sharing, onFailed });
      total += taken;
      if (taken > 0) onApplied(taken);
      if (taken === 0 || !(await shouldContinue(monotonic() - begun))) return total;
    }
  }
  // Where one fails, the other one is not left behind.
  const counts = await Promise.allSettled(Array.from({ length: parallelBatches }, work));
  const total = counts.reduce((sum, count) => {
    if (count.status === 'rejected') throw count.reason;
    return sum + count.value;
  }, 0);
  await doubtRunsSentElsewhere({ ledger, now });
  return total;
}

/** No receiver tries a batch for so long (milliseconds). */
const batchRetention = 600_000;

/** A signature holds for five minutes before and after its time; one of a clock that is ahead for ten (milliseconds). */
const signedCallRetention = 1_200_000;

/** Forgets what is kept to store each call once, and is of no use any more. */
export async function deleteExpiredCalls({ ledger, now }: EngineContext): Promise<void> {
  const ago = (milliseconds: number): Date => new Date(now().getTime() - milliseconds);
  await deleteBatches(ledger.pool, ago(batchRetention));
  await deleteSignedCalls(ledger.pool, ago(signedCallRetention));
}

/** Pauses runs that another ledger has sent, and has in doubt what that may have sent of them. */
async function doubtRunsSentElsewhere({ ledger, now }: Pick<EngineContext, 'ledger' | 'now'>): Promise<void> {
  for (const { run, reason } of await listUntriedProofs(ledger.pool)) {
    const time = now();
    await markUnsentInDoubt(await ledger.queue(), ledger.pool, run, { reason, since: time }, time);
  }
}

/**
 * What the bytes of a report say. Never throws: whoever knows the address can send anything. What we have asked for
 * ourselves is kept under the observed names.
 */
function readReport({ method, contentType, body }: RawReport, mapping: DeliveryReportMapping): ReportContent {
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
    case 'unreadable':
      return { kind: 'unreadable', why: decoded.why };
    case 'report':
      return readDelivery(decoded.report);
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

export async function replayDeliveryReports(context: EngineContext, asked: Replay): Promise<number> {
  return inTransaction(context.ledger.pool, async (client) => {
    const reports = await replayReports(client, asked, context.now());
    const { account, since, all } = asked;
    const act = {
      action: 'delivery reports replayed',
      subject: account,
      details: { since, all, reports },
    } as const;
    await auditEntry(context, act)(client);
    return reports;
  });
}
