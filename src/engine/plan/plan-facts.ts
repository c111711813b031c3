import type { CostEstimate, CostTotal } from '../../campaign/cost.ts';
import type { LeftOutDigest } from '../../domain/rejected-contacts.ts';
import type { WindowTotals } from '../../ledger/planning/windows.ts';
import type { Fingerprint } from './fingerprint.ts';
import type { PastSendTimesCounter } from './past-send-times.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';

/**
 * What a plan sends, in counts and digests. A preview and a run that send the same have the same facts.
 */
export type PlanFacts = {
  /** Rows read, by contact file. */
  readonly rows: readonly number[];
  readonly filtered: number;
  readonly invalid: number;
  readonly leftOut: LeftOutDigest;
  readonly beyondLimit: number | null;
  readonly recipients: number;
  readonly requests: number;
  readonly windows: readonly PlannedWindow[];
  readonly smsParts: number | null;
  /** Valid rows that the service would send at once. */
  readonly pastSendTimes: number;
  /** `12.00 AUD`, or why it is not known. */
  readonly cost: string;
  /** Of all valid rows, in order: address, fields, request-level values, time zones. */
  readonly contents: string;
  /** The SHA-256 of each file that is sent, by path. */
  readonly attachments: ReadonlyMap<string, string>;
};

type PlannedWindow = { readonly zones: string; readonly requests: number; readonly recipients: number };

export type FactSources = {
  readonly found: PreparedCampaign['found'];
  readonly fingerprint: Fingerprint;
  readonly pastSendTimes: PastSendTimesCounter;
  readonly attachments: PlanFacts['attachments'];
  readonly leftOut: LeftOutDigest;
  readonly beyondLimit: number | null;
  readonly totals: readonly CostTotal[];
  readonly cost: CostEstimate;
  readonly windowTotals: readonly WindowTotals[];
};

export function toPlanFacts(sources: FactSources): PlanFacts {
  const { found, fingerprint, leftOut, beyondLimit, totals, cost, windowTotals } = sources;
  const { filtered, invalid } = found();
  const windows = windowTotals
    .map(({ zones, requests, recipients }) => ({ zones: zones.join(','), requests, recipients }))
    .toSorted((one, other) => (one.zones < other.zones ? -1 : 1));
  const sum = (count: (window: PlannedWindow) => number): number =>
    windows.reduce((all, window) => all + count(window), 0);
  const parts = totals.map((total) => total.parts);
  return {
    rows: fingerprint.rows(),
    filtered,
    invalid,
    leftOut,
    beyondLimit,
    recipients: sum(({ recipients }) => recipients),
    requests: sum(({ requests }) => requests),
    windows,
    smsParts: parts.includes(null) ? null : parts.reduce((all: number, each) => all + (each ?? 0), 0),
    pastSendTimes: sources.pastSendTimes.found().recipients,
    cost: cost.kind === 'known' ? `${cost.total} ${cost.currency}` : `not known (${cost.why})`,
    contents: fingerprint.contents(),
    attachments: sources.attachments,
  };
}
