import { createHmac } from 'node:crypto';
import { type CostEstimate, sumParts } from '../../campaign/cost.ts';
import type { LeftOutDigest } from '../../domain/rejected-contacts.ts';
import type { Account } from '../../gateway/account.ts';
import { digestLeftOut } from '../../ledger/planning/count-contacts.ts';
import type { Decided } from '../../ledger/planning/planned-run.ts';
import type { WindowTotals } from '../../ledger/planning/windows.ts';
import type { Transaction } from '../../ledger/session.ts';
import type { Leaves, PlanFile } from './plan-file.ts';
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
  /** A digest of all valid rows, in order: address, fields, request-level values, time zones. */
  readonly contents: string;
  /** The SHA-256 of each file that is sent, by path. */
  readonly attachments: ReadonlyMap<string, string>;
};

type PlannedWindow = { readonly zones: string; readonly requests: number; readonly recipients: number };

export type FactSources = {
  readonly prepared: Pick<PreparedCampaign, 'campaign' | 'found'>;
  /** Its fingerprint has read the files that are sent, and no others. */
  readonly staged: Pick<StagedCampaign, 'fingerprint' | 'pastSendTimes'>;
  readonly decided: Decided;
  readonly cost: CostEstimate;
  readonly windowTotals: readonly WindowTotals[];
};

/** Reads the facts in the transaction that decided. */
export async function readPlanFacts(
  client: Transaction,
  { prepared, staged, decided, cost, windowTotals }: FactSources,
): Promise<PlanFacts> {
  const { fingerprint, pastSendTimes } = staged;
  const { contacts, beyondLimit, recipients, requests, totals } = decided;
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
    smsParts: sumParts(totals, prepared.campaign.value.channel),
    pastSendTimes,
    cost: comparedCost(cost),
    contents: fingerprint.contents(),
    attachments: new Map(fingerprint.files()),
  };
}

export function comparedCost(cost: CostEstimate): string {
  return cost.kind === 'known' ? `${cost.total} ${cost.currency}` : `not known (${cost.why})`;
}

/** Makes the part of a plan that is compared; a run makes it again. */
export function comparedPart(
  id: string,
  prepared: PreparedCampaign,
  facts: PlanFacts,
): Pick<PlanFile, 'inputs' | 'result'> {
  const { rows, attachments, ...result } = facts;
  return {
    inputs: {
      campaign: toLeaves(id, prepared.campaign.value),
      account: accountLeaves(id, prepared.account),
      // A test reads only the beginning of the files; its rows are in the result.
      contactFiles: prepared.test
        ? []
        : prepared.contactFiles.map(({ name }, file) => ({
            name,
            sha256: prepared.kept.digestOf(file).toString('hex'),
            rows: rows[file] ?? 0,
          })),
      attachments: Object.fromEntries(
        [...attachments].map(([path, sha256]) => [digestOfText(id, path), sha256] as const).toSorted(),
      ),
    },
    result: { ...result, windows: [...result.windows] },
  };
}

/**
 * What a run sends with. Without secrets, and what is asked of persons. The sender of a credential identifies a customer
 * of the service. It is no secret.
 */
export function accountLeaves(
  id: string,
  { credentials, confirmAboveRecipients, ...account }: Account,
): Leaves {
  const { kind } = credentials;
  const shown = kind === 'authToken' ? { kind } : { kind, sender: credentials.sender };
  return toLeaves(id, { ...account, credentials: shown });
}

/** Lists the digests of all values by their paths, such as `message.Message`, in the order of the paths. */
function toLeaves(id: string, value: unknown): Leaves {
  const found: [string, string][] = [];
  const visit = (each: unknown, path: readonly string[]): void => {
    if (typeof each === 'object' && each !== null) {
      for (const [key, inner] of Object.entries(each)) visit(inner, [...path, key]);
    } else found.push([path.join('.'), digestOfText(id, JSON.stringify(each))]);
  };
  visit(JSON.parse(JSON.stringify(value)), []);
  return Object.fromEntries(found.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** The id makes the digests of one plan useless for another. */
export function digestOfText(id: string, text: string): string {
  return `sha256:${createHmac('sha256', id).update(text).digest('hex').slice(0, 32)}`;
}
