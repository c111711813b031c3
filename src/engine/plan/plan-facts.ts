import type { CostEstimate } from '../../campaign/cost.ts';
import type { LeftOutDigest } from '../../domain/rejected-contacts.ts';
import { digestLeftOut } from '../../ledger/planning/digest-left-out.ts';
import type { Decided } from '../../ledger/planning/planned-run.ts';
import type { WindowTotals } from '../../ledger/planning/windows.ts';
import type { Transaction } from '../../ledger/session.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import type { StagedCampaign } from './stage-campaign.ts';

/** What a plan sends, in counts and digests. A plan and a run that send the same have the same facts. */
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
  readonly prepared: Pick<PreparedCampaign, 'found'>;
  /** Its fingerprint has read the files that are sent, and no others. */
  readonly staged: Pick<StagedCampaign, 'fingerprint' | 'pastSendTimes'>;
  readonly decided: Decided;
  readonly cost: CostEstimate;
  readonly windowTotals: readonly WindowTotals[];
};

/** In the transaction that decided. */
export async function readPlanFacts(
  client: Transaction,
  { prepared, staged, decided, cost, windowTotals }: FactSources,
): Promise<PlanFacts> {
  const { fingerprint, pastSendTimes } = staged;
  const { contacts, beyondLimit, recipients, requests, totals } = decided;
  const parts = totals.map((total) => total.parts);
  return {
    rows: fingerprint.rows(),
    filtered: prepared.found().filtered,
    invalid: contacts.invalid,
    leftOut: await digestLeftOut(client),
    beyondLimit: beyondLimit?.contacts ?? null,
    recipients,
    requests,
    windows: windowTotals
      .map((each) => ({ zones: each.zones.join(','), requests: each.requests, recipients: each.recipients }))
      .toSorted((one, other) => (one.zones < other.zones ? -1 : 1)),
    smsParts: parts.includes(null) ? null : parts.reduce((all: number, each) => all + (each ?? 0), 0),
    pastSendTimes,
    cost: cost.kind === 'known' ? `${cost.total} ${cost.currency}` : `not known (${cost.why})`,
    contents: fingerprint.contents(),
    attachments: new Map(fingerprint.files()),
  };
}
