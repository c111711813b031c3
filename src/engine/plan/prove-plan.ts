import { createHmac } from 'node:crypto';
import { type CostEstimate, sumParts } from '../../campaign/cost.ts';
import type { Account } from '../../gateway/account.ts';
import type { Ledger } from '../../ledger/connection.ts';
import { digestLeftOut } from '../../ledger/planning/count-contacts.ts';
import type { Decided, PlanRules } from '../../ledger/planning/planned-run.ts';
import { listSentFiles } from '../../ledger/planning/read-decided.ts';
import type { WindowTotals } from '../../ledger/planning/windows.ts';
import type { Transaction } from '../../ledger/session.ts';
import { readVersion } from '../../platform/package-folder.ts';
import { readUnreadFiles } from './fingerprint.ts';
import type { RunForecast } from './forecast.ts';
import type { Leaves, ProvablePlan } from './plan-file.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import type { RowChoice } from './row-choice.ts';
import type { StagedCampaign } from './stage-campaign.ts';

/** A campaign of which the session has decided what is sent. */
export type DecidedPlan = {
  readonly prepared: PreparedCampaign;
  readonly staged: StagedCampaign;
  readonly decided: Decided;
  readonly cost: CostEstimate;
  readonly windowTotals: readonly WindowTotals[];
};

/** What a run would send, in the transaction that decided it. */
export type PreviewedPlan = DecidedPlan & {
  readonly rules: PlanRules;
  readonly forecast: RunForecast;
  readonly now: Date;
  /** Null: there is none. */
  readonly ledger: Ledger | null;
  readonly rows: RowChoice | undefined;
};

/**
 * Makes the part of a plan that a run makes again and compares, in the transaction that decided. It has counts and
 * digests.
 *
 * @param id random; 32 hexadecimal digits
 */
export async function provePlan(
  client: Transaction,
  id: string,
  { prepared, staged, decided, cost, windowTotals }: DecidedPlan,
): Promise<ProvablePlan> {
  const { fingerprint, pastSendTimes } = staged;
  const { contacts, beyondLimit, recipients, requests, totals } = decided;
  await readUnreadFiles(fingerprint, await listSentFiles(client), prepared.files.read);
  const rows = fingerprint.rows();
  return {
    id,
    volley: readVersion(),
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
        [...fingerprint.files()]
          .map(([path, sha256]) => [digestOfText(id, path), sha256] as const)
          .toSorted(),
      ),
    },
    result: {
      filtered: prepared.found().filtered,
      invalid: contacts.invalid,
      leftOut: await digestLeftOut(client),
      beyondLimit: beyondLimit?.contacts ?? null,
      recipients,
      requests,
      windows: windowTotals
        .map((each) => ({
          zones: each.zones.join(','),
          requests: each.requests,
          recipients: each.recipients,
        }))
        .toSorted((one, other) => (one.zones < other.zones ? -1 : 1)),
      smsParts: sumParts(totals, prepared.campaign.value.channel),
      pastSendTimes,
      cost: comparedCost(cost),
      contents: fingerprint.contents(),
    },
  };
}

export function comparedCost(cost: CostEstimate): string {
  return cost.kind === 'known' ? `${cost.total} ${cost.currency}` : `not known (${cost.why})`;
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
