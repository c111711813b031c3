import type {
  CanaryRecord,
  ComparedShare,
  canaryPromotions,
  Decision,
  DecisionCause,
  DecisionKind,
} from '../domain/decisions.ts';
import { type CanaryFailure, canaryFailures, type WatchReason } from '../domain/watch-reasons.ts';
import { type Counts, evidenceAbove, evidenceNeeded } from './evidence.ts';

export type CanarySettings = {
  /** Milliseconds. */
  readonly observe: number;
  readonly promote: (typeof canaryPromotions)[number];
  /** The largest allowed shares. Undefined: not limited. */
  readonly abort: Readonly<Partial<Record<CanaryFailure, number | undefined>>>;
};

/** Of a run before its promotion, so all of it is of the canary. */
export type CanaryCounts = {
  /** Whether all requests that can be sent now are settled. */
  readonly isSent: boolean;
  /** Requests: a rejection is about all recipients of one. */
  readonly requests: { readonly settled: number; readonly rejected: number };
  readonly recipients: Readonly<
    Record<'accepted' | 'delivered' | 'undelivered' | 'rejected' | 'failed' | 'unknown', number>
  >;
};

/** How often a limit that is kept may look exceeded, over all looks at a canary. */
export const canaryAlpha = 0.01;

/**
 * Decides about a run from its canary. It is aborted at any time when the evidence says that a share is above its limit.
 * When all reports are in, or the time is over, the shares themselves are compared with their limits. A person promotes a run
 * of whose canary nothing was accepted.
 *
 * @param observedMs since the canary was sent
 * @returns undefined: it is observed
 */
export function decideCanary(
  { observe, promote, abort }: CanarySettings,
  counts: CanaryCounts,
  observedMs: number,
): Decision | undefined {
  const shares = measureShares(abort, counts);
  const decide = (kind: DecisionKind, cause: DecisionCause, pause?: WatchReason): Decision => ({
    kind,
    record: toRecord(cause, observedMs, shares),
    ...(pause && { pause }),
  });
  const tests = shares.filter(({ tested }) => tested !== null).length;
  const proved = shares.find((share) => isProved(share, tests));
  if (proved) return decide('canary aborted', 'evidence', stoppedBy(proved));
  const end = causeOfEnd(counts, { observe, observedMs });
  if (end === undefined) return undefined;
  const above = shares.find(({ found, of, limit }) => found > of * limit);
  if (above) return decide('canary aborted', end, stoppedBy(above));
  const { accepted, delivered, undelivered } = counts.recipients;
  const isAccepted = accepted + delivered + undelivered > 0;
  if (promote === 'auto' && isAccepted) return decide('canary promoted', end);
  return decide('canary waits', end, { kind: 'canary_waits' });
}

function stoppedBy({ what, found: recipients, of, limit }: Measured): WatchReason {
  return { kind: 'canary_stopped', what, recipients, of, limit };
}

/** What decided when an operator promotes a run. */
export function operatorRecord(
  abort: CanarySettings['abort'],
  counts: CanaryCounts,
  observedMs: number,
): CanaryRecord {
  return toRecord('operator', observedMs, measureShares(abort, counts));
}

/** @returns undefined while more reports are waited for */
function causeOfEnd(
  { isSent, recipients }: CanaryCounts,
  { observe, observedMs }: { readonly observe: number; readonly observedMs: number },
): DecisionCause | undefined {
  if (!isSent) return undefined;
  if (recipients.accepted + recipients.unknown === 0) return 'all reports';
  return observedMs >= observe ? 'time' : undefined;
}

type Measured = Omit<ComparedShare, 'probability'> & {
  /** Null: it only counts when the time is over, because reports are missing at first. */
  readonly tested: Counts | null;
};

function measureShares(abort: CanarySettings['abort'], { requests, recipients }: CanaryCounts): Measured[] {
  const { accepted, delivered, undelivered, rejected, failed, unknown } = recipients;
  const reported = delivered + undelivered;
  const refused = rejected + failed;
  const found: Readonly<Record<CanaryFailure, Omit<Measured, 'what' | 'limit'>>> = {
    rejected: {
      found: refused,
      of: accepted + reported + refused + unknown,
      tested: { events: requests.rejected, trials: requests.settled },
    },
    undelivered: {
      found: undelivered,
      of: reported,
      // A missing report counts as no failure: failures may be reported first.
      tested: { events: undelivered, trials: accepted + reported },
    },
    unreported: { found: accepted + unknown, of: accepted + reported + unknown, tested: null },
  };
  return canaryFailures.flatMap((what) => {
    const limit = abort[what];
    return limit === undefined ? [] : [{ what, limit, ...found[what] }];
  });
}

function isProved({ tested, limit }: Measured, tests: number): boolean {
  return tested !== null && evidenceAbove(limit, tested) >= evidenceNeeded(canaryAlpha / tests);
}

function toRecord(cause: DecisionCause, observedMs: number, measured: readonly Measured[]): CanaryRecord {
  const shares = measured.map(({ tested, ...share }): ComparedShare => {
    const probability = tested === null ? 1 : Math.min(1, Math.exp(-evidenceAbove(share.limit, tested)));
    return { ...share, probability: Number(probability.toPrecision(2)) };
  });
  return { cause, observedMs, alpha: canaryAlpha, shares };
}
