import { setTimeout as sleep } from 'node:timers/promises';
import type { WithheldCause } from '../../domain/reasons.ts';
import { addSendingRows, type StartedRequest } from '../../ledger/requests/add-rows.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import { coalesce } from '../coalesce.ts';
import { type Attempt, withheldAttempt } from './attempt.ts';
import { attemptOnce, type Sender, settlementOf } from './attempt-once.ts';
import type { AcceptedAttempt, SliceCheckpoint } from './checkpoint.ts';
import { released } from './next-step.ts';
import { createReadAhead } from './read-ahead.ts';
import { type RequestSource, refusedClaimWait, type SourceContext } from './request-source.ts';
import { retryRequest } from './send-request.ts';

/**
 * Makes the fast path, which claims and accepts requests without rows of their own as ranges. A request with any other
 * outcome gets a row first.
 */
export function createRangeSource(options: SourceContext, checkpoint: SliceCheckpoint): RequestSource {
  const { recorder, onSettled } = options;
  const readAhead = createReadAhead(options);
  const addRow = rowAdder(options);
  const unsent = createUnsent(options, addRow);

  return {
    available: readAhead.available,
    async claim(limit, stop) {
      const { requests, claim } = await readAhead.next(limit);
      if (await checkpoint.claim(claim)) {
        readAhead.advance(requests, claim);
        return requests;
      }
      readAhead.discard();
      await sleep(refusedClaimWait, undefined, { signal: stop }).catch(() => undefined);
      return [];
    },
    async send(sender, prepared) {
      const { claimed } = prepared;
      const { attempt, step } = await attemptOnce(sender, prepared, 1).catch((error: unknown) => {
        // A byte may have left.
        unsent.markSent(claimed.request);
        throw error;
      });
      const { outcome, startedAt } = attempt;
      if (outcome.kind === 'withheld') {
        unsent.add([claimed], outcome.because);
        return settlementOf(sender, claimed, attempt, released);
      }
      unsent.markSent(claimed.request);
      if (step.kind === 'settle' && step.as.state === 'accepted') {
        checkpoint.accept(acceptedAttempt(claimed, attempt, step.as.jobNumber));
        return settlementOf(sender, claimed, attempt, step.as);
      }
      await addRow({ request: claimed.request, startedAt });
      const settlement =
        step.kind === 'settle'
          ? settlementOf(sender, claimed, attempt, step.as)
          : await retryRequest(sender, prepared, { attempt, step });
      if (settlement && (await recorder.record(settlement))) onSettled(claimed.messageId, settlement.state);
      return settlement;
    },
    async release(_sender, claimed, because) {
      unsent.add(claimed, because);
    },
    async end(sender) {
      await checkpoint.whenRecorded();
      await unsent.release(sender, (to) => checkpoint.returnClaim({ after: readAhead.claimedTo(), to }));
      const rest = readAhead.rest();
      if (!rest || !unsent.isEmpty()) return;
      checkpoint.flush();
      await checkpoint.claim(rest);
    },
  };
}

type AddRow = (started: StartedRequest) => Promise<void>;

function rowAdder({ context, outageRetry, slice }: SourceContext): AddRow {
  return coalesce(
    async (started: readonly StartedRequest[]) => {
      await outageRetry.retry(() => addSendingRows(context.ledger.pool, { ...slice, started }));
      return started.map(() => undefined);
    },
    { maxBatch: 64, busyThreshold: 16 },
  );
}

type Unsent = {
  readonly markSent: (request: number) => void;
  readonly add: (claimed: readonly ClaimedRequest[], because: WithheldCause) => void;
  readonly isEmpty: () => boolean;
  /** @param returnClaim returns all requests after the given one */
  readonly release: (sender: Sender, returnClaim: (after: number) => Promise<void>) => Promise<void>;
};

/** Keeps claimed requests of which no byte has left. */
function createUnsent({ context, recorder, slice }: SourceContext, addRow: AddRow): Unsent {
  const unsent: { readonly claimed: ClaimedRequest; readonly because: WithheldCause }[] = [];
  let sentTo = slice.claimedTo;
  return {
    markSent(request) {
      sentTo = Math.max(sentTo, request);
    },
    add(claimed, because) {
      unsent.push(...claimed.map((each) => ({ claimed: each, because })));
    },
    isEmpty: () => unsent.length === 0,
    async release(sender, returnClaim) {
      const belowSent = unsent.filter(({ claimed }) => claimed.request < sentTo);
      await Promise.all(
        belowSent.map(async ({ claimed, because }) => {
          const now = context.now();
          await addRow({ request: claimed.request, startedAt: now });
          await recorder.record(settlementOf(sender, claimed, withheldAttempt(because, 1, now), released));
        }),
      );
      if (belowSent.length < unsent.length) await returnClaim(sentTo);
    },
  };
}

function acceptedAttempt(
  { request, messageId, destinations }: ClaimedRequest,
  { startedAt, finishedAt, httpStatus }: Pick<Attempt, 'startedAt' | 'finishedAt' | 'httpStatus'>,
  jobNumber: string | undefined,
): AcceptedAttempt {
  return {
    request,
    recipients: destinations.count,
    messageId,
    jobNumber,
    finishedAt: finishedAt.getTime(),
    tookMs: finishedAt.getTime() - startedAt.getTime(),
    httpStatus: httpStatus ?? 200,
  };
}
