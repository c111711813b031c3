import type { RefusedRun } from './problems.ts';
import type { RunSummary } from './runs.ts';

/**
 * What `notify` tells: a run is over with all accepted (`completed`), or with rejected, failed or unknown requests
 * (`failures`); it is `paused`; a time of a schedule has made no run (`missed`); a run was `refused` because of its contacts.
 */
export const notifiedEvents = ['completed', 'failures', 'paused', 'missed', 'refused'] as const;
export type NotifiedEvent = (typeof notifiedEvents)[number];

/** A time of a schedule that made no run, or several of them that were noted together. */
export type MissedTicks = {
  readonly schedule: string;
  readonly campaign: string;
  readonly times: number;
  /** ISO 8601, the first and the last of them. */
  readonly from: string;
  readonly until: string;
  readonly state: 'missed' | 'failed';
};

/** What is told, as webhooks and commands get it; the counts are those of when it was first told. */
export type NotificationPayload =
  | {
      readonly type: `run.${Exclude<NotifiedEvent, 'missed' | 'refused'>}`;
      /** ISO 8601: when it happened. */
      readonly timestamp: string;
      readonly data: RunSummary & { readonly reason: string | null };
    }
  | {
      readonly type: 'run.refused';
      readonly timestamp: string;
      /** With the schedule of which it was a time's run, if any. */
      readonly data: RefusedRun & { readonly schedule: string | null };
    }
  | {
      readonly type: 'schedule.missed';
      readonly timestamp: string;
      readonly data: MissedTicks & { readonly reason: string | null };
    };
