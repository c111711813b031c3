import type { RefusedRun } from './problems.ts';
import type { RunSummary } from './runs.ts';
import type { RunWait } from './waits.ts';

/**
 * `completed`: all requests accepted; `failures`: some rejected, failed or unknown; `missed`: a tick made no
 * run; `refused`: the contacts allowed no run.
 */
export const notifiedEvents = ['completed', 'failures', 'paused', 'missed', 'refused'] as const;

/** `warned`: a guard would have paused the run, but only notifies, or the rest waits for a person; for targets of `paused`. */
export const allNotifiedEvents = [...notifiedEvents, 'warned'] as const;
export type NotifiedEvent = (typeof allNotifiedEvents)[number];

/** One or more ticks that made no run. */
export type MissedTicks = {
  readonly schedule: string;
  readonly campaign: string;
  readonly times: number;
  /** The first and last tick, in ISO 8601. */
  readonly from: string;
  readonly until: string;
  readonly state: 'missed' | 'failed';
};

/** The body for webhooks and commands. Its counts do not change between attempts. */
export type NotificationPayload =
  | {
      readonly type: `run.${Exclude<NotifiedEvent, 'missed' | 'refused'>}`;
      /** Time of the event, in ISO 8601. */
      readonly timestamp: string;
      readonly data: RunSummary & {
        readonly reason: string | null;
        /** The most important first; empty: nothing. */
        readonly waitsFor: readonly RunWait[];
      };
    }
  | {
      readonly type: 'run.refused';
      readonly timestamp: string;
      /** `schedule`: whose tick the run was for, if any. */
      readonly data: RefusedRun & { readonly schedule: string | null };
    }
  | {
      readonly type: 'schedule.missed';
      readonly timestamp: string;
      readonly data: MissedTicks & { readonly reason: string | null };
    };
