import { type CanarySettings, decideCanary } from '../../decisions/canary.ts';
import { type GuardCounts, type GuardSettings, type GuardState, lookAtGuard } from '../../decisions/guard.ts';
import type { Usual } from '../../decisions/undelivered.ts';
import type { DecisionKind } from '../../domain/decisions.ts';
import { seededRandom } from '../../platform/seeded-random.ts';
import type { ServiceModel } from './service-model.ts';
import { type Group, type GroupCounts, type SimulatedRun, simulateRun } from './simulated-run.ts';
import { isOpen, type Lot, opensAt, type Speed, sum } from './simulated-sending.ts';

/** A run to play. */
export type RehearsedRun = {
  readonly begin: Date;
  readonly groups: readonly Group[];
  /** Undefined: the run has no canary. */
  readonly canary: { readonly settings: CanarySettings; readonly lots: readonly Lot[] } | undefined;
  /** All others, in the order of the run. */
  readonly lots: readonly Lot[];
  readonly speed: Speed;
  readonly guard: GuardSettings | undefined;
  readonly usual: Usual | undefined;
  readonly deadline: Date | undefined;
};

/** What happens in a rehearsal; `sent`: recipients so far. */
export type RehearsalStep = { readonly at: Date; readonly sent: number } & StepKind;

type StepKind =
  | { readonly kind: 'begun' | 'canary sent' | 'window closed' | 'window open' | 'deadline' }
  | { readonly kind: 'completed' | 'paused' }
  | { readonly kind: 'decided'; readonly decision: DecisionKind; readonly record: object };

export type Rehearsal = {
  readonly recipients: number;
  readonly steps: readonly RehearsalStep[];
  /** Recipients, once all reports have come. */
  readonly counts: Readonly<Record<keyof GroupCounts, number>>;
  /** Recipients sent after the deadline, or not at all. */
  readonly late: number;
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
  sentInTime: number;
};

/** Plays a run in simulated time. The functions that decide are those of a run. */
export function rehearse(run: RehearsedRun, model: ServiceModel, seed: number): Rehearsal {
  const recipients = leftIn(allLots(run));
  const play: Play = {
    run,
    played: simulateRun(run.groups, { recipients, speed: run.speed }, model, seededRandom(seed)),
    recipients,
    steps: [],
    now: run.begin.getTime(),
    lookMs: 0,
    idleSince: undefined,
    inWindow: true,
    promoted: run.canary === undefined,
    observedMs: undefined,
    guard: undefined,
    sentInTime: 0,
  };
  note(play, { kind: 'begun' });
  do advance(play);
  while (look(play));
  play.played.receiveReports(Number.POSITIVE_INFINITY);
  const { sent, accepted, rejected, unknown, delivered, undelivered } = play.played.counts;
  return {
    recipients,
    steps: play.steps,
    counts: {
      sent: sum(sent),
      accepted: sum(accepted),
      rejected: sum(rejected),
      unknown: sum(unknown),
      delivered: sum(delivered),
      undelivered: sum(undelivered),
    },
    late: run.deadline ? recipients - play.sentInTime : 0,
  };
}

const allLots = ({ canary, lots }: RehearsedRun): readonly Lot[] => [...(canary?.lots ?? []), ...lots];

const leftIn = (lots: readonly Lot[]): number => sum(lots.map(({ left }) => sum(left)));

function note({ steps, now, played }: Play, step: StepKind): void {
  steps.push({ at: new Date(now), sent: sum(played.counts.sent), ...step });
}

/** Sends until the next look. */
function advance(play: Play): void {
  const { run, played, now } = play;
  const due = (play.promoted ? allLots(run) : (run.canary?.lots ?? [])).filter((lot) => leftIn([lot]) > 0);
  const canSend = due.some((lot) => isOpen(lot, now));
  if (due.length > 0 && canSend !== play.inWindow) {
    play.inWindow = canSend;
    note(play, { kind: canSend ? 'window open' : 'window closed' });
  }
  play.idleSince = canSend ? undefined : (play.idleSince ?? now);
  const opens = due.length > 0 && !canSend ? opensAt(due, now) : Number.POSITIVE_INFINITY;
  const until = Math.min(now + lookInterval(play), opens);
  played.advance(due, now, until);
  play.lookMs = until - now;
  play.now = until;
  const deadline = run.deadline?.getTime() ?? Number.POSITIVE_INFINITY;
  if (until <= deadline) play.sentInTime = sum(played.counts.sent);
  else if (now <= deadline) note(play, { kind: 'deadline' });
}

/** Looks at a long run are fewer than in reality (milliseconds). */
function lookInterval({ run, recipients, now, idleSince, promoted }: Play): number {
  const { requests, recipients: most } = run.speed;
  const chunk = allLots(run)[0]?.chunk ?? 1;
  const whole = (recipients / Math.min(requests * chunk, most)) * 1_000;
  const wished = idleSince === undefined ? (promoted ? whole / 8_000 : 0) : (now - idleSince) / 100;
  return Math.min(60_000, Math.max(1_000, wished));
}

/** Decides as the looks of a run do. @returns whether the run goes on */
function look(play: Play): boolean {
  if (lookAtCanary(play) === 'paused' || lookAtGuardOf(play) === 'paused') {
    note(play, { kind: 'paused' });
    return false;
  }
  if (!play.promoted || leftIn(allLots(play.run)) > 0) return true;
  note(play, { kind: 'completed' });
  return false;
}

function lookAtCanary(play: Play): 'paused' | undefined {
  const { run, played, now } = play;
  if (!run.canary || play.promoted) return undefined;
  const { settings, lots } = run.canary;
  const { requests, counts } = played;
  const isSent = sum(counts.sent) > 0 && !lots.some((lot) => leftIn([lot]) > 0 && isOpen(lot, now));
  if (isSent && play.observedMs === undefined) note(play, { kind: 'canary sent' });
  if (isSent) play.observedMs = (play.observedMs ?? 0) + play.lookMs;
  const [delivered, undelivered] = [sum(counts.delivered), sum(counts.undelivered)];
  const decided = decideCanary(
    settings,
    {
      isSent,
      requests: { settled: Math.round(requests.settled), rejected: Math.round(requests.rejected) },
      recipients: {
        accepted: sum(counts.accepted) - delivered - undelivered,
        delivered,
        undelivered,
        rejected: sum(counts.rejected),
        failed: 0,
        unknown: sum(counts.unknown),
      },
    },
    play.observedMs ?? 0,
  );
  if (decided.kind === 'observe') return undefined;
  const decision = ({ promote: 'canary promoted', ask: 'canary waits', abort: 'canary aborted' } as const)[
    decided.kind
  ];
  note(play, { kind: 'decided', decision, record: decided.record });
  // As if the person that it asks promoted the run at once.
  play.promoted = decided.kind !== 'abort';
  return play.promoted ? undefined : 'paused';
}

function lookAtGuardOf(play: Play): 'paused' | undefined {
  const { guard: settings, usual } = play.run;
  if (!settings) return undefined;
  const { finding, state } = lookAtGuard(settings, guardCounts(play), usual, play.guard);
  play.guard = state;
  if (!finding) return undefined;
  const pauses = settings.action === 'pause';
  note(play, { kind: 'decided', decision: pauses ? 'guard stopped' : 'guard warned', record: finding });
  return pauses ? 'paused' : undefined;
}

function guardCounts({ run, played, recipients, lookMs }: Play): GuardCounts {
  const { counts, requests } = played;
  const reported = sum(counts.delivered) + sum(counts.undelivered);
  return {
    planned: recipients,
    isResumed: false,
    lookMs,
    settled: Math.round(requests.settled),
    rejected: Math.round(requests.rejected),
    unknown: Math.round(requests.unknown),
    accepted: sum(counts.accepted),
    reported,
    // A rehearsal has no prices.
    otherPrices: 0,
    destinations: run.groups.map(({ destination, isCanary }, group) => ({
      destination,
      isCanary,
      sent: counts.sent[group] ?? 0,
      delivered: counts.delivered[group] ?? 0,
      undelivered: counts.undelivered[group] ?? 0,
    })),
  };
}
