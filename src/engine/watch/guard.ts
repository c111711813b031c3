import { z } from 'zod';
import { storedGuard } from '../../campaign/run-guard-definition.ts';
import { storedCounts } from '../../decisions/evidence.ts';
import { type GuardCounts, type GuardSettings, guardState, lookAtGuard } from '../../decisions/guard.ts';
import type { DestinationCounts } from '../../decisions/undelivered.ts';
import type { Decision, GuardRecord } from '../../domain/decisions.ts';
import { foldRunCounts } from '../../ledger/counts/fold.ts';
import {
  countNewlySent,
  type ReportedAt,
  readReported,
  type SentAt,
} from '../../ledger/watch/guard-counts.ts';
import { readUsualOf, usualSources } from '../../ledger/watch/usual.ts';
import type { Finding, Look } from './look.ts';

/** What the looks of a guard keep in `run_watches.evidence`. */
const keptByGuard = z.object({
  sent: z.array(z.object({ destination: z.string(), isCanary: z.boolean(), sent: z.number() })),
  countedTo: z.array(z.object({ slice: z.number(), request: z.number() })).readonly(),
  /** As at the first look; null: nothing is known. */
  usual: z
    .object({
      source: z.enum(usualSources),
      runs: z.number(),
      whole: storedCounts,
      at: z.record(z.string(), storedCounts),
    })
    .nullable(),
  state: guardState,
});

/** @returns undefined for a run without a guard */
export function guardOf(definition: unknown): GuardSettings | undefined {
  return storedGuard.parse(definition);
}

/** Looks whether the guard of a run stops it. */
export async function watchGuard(look: Look): Promise<Finding> {
  const { client, run, definition, evidence } = look;
  const settings = guardOf(definition);
  if (!settings) return {};
  // Many reports come while a slice is sent, and only its end folds their counts.
  await foldRunCounts(client, [run]);
  const before = evidence === undefined ? undefined : keptByGuard.parse(evidence);
  const { sent: newlySent, countedTo } = await countNewlySent(client, run, before?.countedTo ?? []);
  const sent = addSent(before?.sent ?? [], newlySent);
  const usual = before === undefined ? ((await readUsualOf(client, run)) ?? null) : before.usual;
  const { finding, state } = lookAtGuard(
    settings,
    await readCounts(look, sent),
    usual ?? undefined,
    before?.state,
  );
  const kept: z.output<typeof keptByGuard> = { sent, countedTo, usual, state };
  return { evidence: kept, ...(finding && { decision: toDecision(finding, settings.action) }) };
}

function toDecision(record: GuardRecord, action: GuardSettings['action']): Decision {
  return action === 'pause'
    ? { kind: 'guard stopped', record, pause: record.reason }
    : { kind: 'guard warned', record, warning: record.reason };
}

async function readCounts(
  { client, run, lookMs, progress }: Look,
  sent: readonly SentAt[],
): Promise<GuardCounts> {
  const { at, otherPrices } = await readReported(client, run);
  const { counts, settled, settledSince } = progress;
  const { requests, recipients } = counts;
  const reported = recipients.delivered + recipients.undelivered;
  return {
    isResumed: settledSince !== settled,
    planned: recipients.total,
    lookMs,
    settled,
    rejected: requests.rejected - counts.divided,
    unknown: requests.in_doubt + requests.abandoned,
    accepted: recipients.accepted + reported,
    reported,
    otherPrices,
    destinations: joinCounts(sent, at),
  };
}

type Place = Pick<SentAt, 'destination' | 'isCanary'>;

const keyOf = ({ destination, isCanary }: Place): string => `${isCanary} ${destination}`;

function addSent(before: readonly SentAt[], added: readonly SentAt[]): SentAt[] {
  const sums = new Map(before.map((each) => [keyOf(each), each]));
  for (const each of added)
    sums.set(keyOf(each), { ...each, sent: each.sent + (sums.get(keyOf(each))?.sent ?? 0) });
  return [...sums.values()];
}

function joinCounts(sent: readonly SentAt[], reported: readonly ReportedAt[]): DestinationCounts[] {
  const none = { sent: 0, delivered: 0, undelivered: 0 };
  const joined = new Map<string, DestinationCounts>();
  for (const each of [...sent, ...reported])
    joined.set(keyOf(each), { ...none, ...joined.get(keyOf(each)), ...each });
  return [...joined.values()];
}
