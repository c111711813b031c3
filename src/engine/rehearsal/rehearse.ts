import { type CanarySettings, decideCanary } from '../../decisions/canary.ts';
import {
  type FailFast,
  failFastReason,
  type GuardSettings,
  type GuardState,
  lookAtGuard,
} from '../../decisions/guard.ts';
import type { Usual } from '../../decisions/undelivered.ts';
import type { DecisionKind } from '../../domain/decisions.ts';
import { seededRandom } from '../../platform/seeded-random.ts';
import type { KnownService } from './service.ts';
import { type Counts, isOpen, type Lot, leftIn, type SimulatedRun, simulateRun } from './simulated-run.ts';

/** A run to play. */
export type RehearsedRun = {
  readonly begin: Date;
  /** In the order of the run. */
  readonly lots: readonly Lot[];
  /** Recipients that are sent to in a second. */
  readonly perSecond: number;
  /** How many recipients a request has, on average. */
  readonly chunk: number;
  readonly canary: CanarySettings | undefined;
  readonly guard: GuardSettings | undefined;
  readonly failFast: FailFast | undefined;
  readonly usual: Usual | undefined;
};

/** What happens in a rehearsal; `sent`: recipients so far. */
export type RehearsalStep = { readonly at: Date; readonly sent: number } & StepKind;

type StepKind =
  | { readonly kind: 'begun' | 'canary sent' | 'window closed' | 'window open' | 'completed' | 'paused' }
  | { readonly kind: 'rejected'; readonly reason: NonNullable<ReturnType<typeof failFastReason>> }
  | { readonly kind: 'decided'; readonly decision: DecisionKind; readonly record: object };

export type Rehearsal = {
  readonly recipients: number;
  readonly steps: readonly RehearsalStep[];
  /** Recipients, once all reports have come. */
  readonly counts: Readonly<Counts>;
};

type Play = {
  readonly run: RehearsedRun;
  readonly played: SimulatedRun;
  readonly recipients: number;
  readonly steps: RehearsalStep[];
  now: number;
  /** Since the look before. */
  lookMs: number;
  /** Since when nothing could be sent. */
  idleSince: number | undefined;
  inWindow: boolean;
  promoted: boolean;
  /** How long the canary has been observed; undefined: it has not been sent. */
  observedMs: number | undefined;
  guard: GuardState | undefined;
};

/** Plays a run in simulated time. The functions that decide are those of a run. */
export function rehearse(run: RehearsedRun, service: KnownService, seed: number): Rehearsal {
  const { begin, lots, perSecond } = run;
  const recipients = leftIn(lots);
  const play: Play = {
    run,
    played: simulateRun({ begin, recipients, perSecond }, service, seededRandom(seed)),
    recipients,
    steps: [],
    now: begin.getTime(),
    lookMs: 0,
    idleSince: undefined,
    inWindow: true,
    promoted: !lots.some(({ isCanary }) => isCanary),
    observedMs: undefined,
    guard: undefined,
  };
  note(play, { kind: 'begun' });
  do advance(play);
  while (look(play));
  const { counts, receiveAllReports } = play.played;
  receiveAllReports();
  return { recipients, steps: play.steps, counts };
}

function note({ steps, now, played }: Play, step: StepKind): void {
  steps.push({ at: new Date(now), sent: played.counts.sent, ...step });
}

/** Sends until the next look. */
function advance(play: Play): void {
  const { run, played, now, promoted } = play;
  const due = run.lots.filter((lot) => (promoted || lot.isCanary) && leftIn([lot]) > 0);
  const canSend = due.some((lot) => isOpen(lot, now));
  if (due.length > 0 && canSend !== play.inWindow) {
    play.inWindow = canSend;
    note(play, { kind: canSend ? 'window open' : 'window closed' });
  }
  play.idleSince = canSend ? undefined : (play.idleSince ?? now);
  const opens = canSend ? [] : due.map(({ gate }) => gate?.opensAt(new Date(now)).getTime() ?? now);
  const until = Math.min(now + lookInterval(play), ...opens);
  played.advance(due, now, until);
  play.lookMs = until - now;
  play.now = until;
}

/** Looks at a long run are fewer than in reality (milliseconds). */
function lookInterval({ run, recipients, now, idleSince, promoted }: Play): number {
  if (idleSince !== undefined) return Math.min(60_000, Math.max(1_000, (now - idleSince) / 100));
  return promoted ? Math.max(1_000, (recipients / run.perSecond) * (1_000 / 8_000)) : 1_000;
}

/** Decides as the looks of a run do. @returns whether the run goes on */
function look(play: Play): boolean {
  if (lookAtRejected(play) || lookAtCanary(play) || lookAtGuardOf(play)) {
    note(play, { kind: 'paused' });
    return false;
  }
  if (!play.promoted || leftIn(play.run.lots) > 0) return true;
  note(play, { kind: 'completed' });
  return false;
}

/** @returns whether the run is paused; so below */
function lookAtRejected(play: Play): boolean {
  const { failFast, chunk } = play.run;
  const reason =
    failFast && failFastReason(failFast, countRequests(play), Math.round(play.recipients / chunk));
  if (reason) note(play, { kind: 'rejected', reason });
  return reason !== undefined;
}

function lookAtCanary(play: Play): boolean {
  const { run, played, now } = play;
  if (!run.canary || play.promoted) return false;
  const { sent, ...counts } = played.counts;
  const canary = run.lots.filter((lot) => lot.isCanary && leftIn([lot]) > 0);
  const isSent = sent > 0 && !canary.some((lot) => isOpen(lot, now));
  if (isSent && play.observedMs === undefined) note(play, { kind: 'canary sent' });
  if (isSent) play.observedMs = (play.observedMs ?? 0) + play.lookMs;
  const accepted = counts.accepted - counts.delivered - counts.undelivered;
  const recipients = { ...counts, accepted, failed: 0 };
  const found = { isSent, requests: countRequests(play), recipients };
  const decided = decideCanary(run.canary, found, play.observedMs ?? 0);
  if (!decided) return false;
  note(play, { kind: 'decided', decision: decided.kind, record: decided.record });
  // As if the person that it asks promoted the run at once.
  play.promoted = decided.kind !== 'canary aborted';
  return !play.promoted;
}

function lookAtGuardOf(play: Play): boolean {
  const { run, played, recipients, lookMs } = play;
  if (!run.guard) return false;
  const { accepted, delivered, undelivered } = played.counts;
  const groups = new Set(run.lots.flatMap(({ left }) => [...left.keys()]));
  const counts = {
    ...countRequests(play),
    planned: recipients,
    isResumed: false,
    lookMs,
    accepted,
    reported: delivered + undelivered,
    // A rehearsal has no prices.
    otherPrices: 0,
    destinations: [...groups].map((group) => ({ ...group, ...group.counts })),
  };
  const { finding, state } = lookAtGuard(run.guard, counts, run.usual, play.guard);
  play.guard = state;
  if (!finding) return false;
  const pauses = run.guard.action === 'pause';
  note(play, { kind: 'decided', decision: pauses ? 'guard stopped' : 'guard warned', record: finding });
  return pauses;
}

function countRequests({ run: { chunk }, played: { counts } }: Play) {
  return {
    settled: Math.round(counts.sent / chunk),
    rejected: Math.round(counts.rejected / chunk),
    unknown: Math.round(counts.unknown / chunk),
  };
}
