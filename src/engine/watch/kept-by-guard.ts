import { z } from 'zod';
import type { GuardState } from '../../decisions/guard.ts';
import type { CountedTo, SentAt } from '../../ledger/watch/guard-counts.ts';
import { type UsualOutcome, usualSources } from '../../ledger/watch/usual.ts';

/** What the looks of a guard keep in `run_watches.evidence`. */
export type KeptByGuard = {
  readonly sent: readonly SentAt[];
  readonly countedTo: readonly CountedTo[];
  /** As at the first look; null: nothing is known. */
  readonly usual: UsualOutcome | null;
  readonly state: GuardState;
};

const counts = z.object({ events: z.number(), trials: z.number() });
const byDestination = z.record(z.string(), counts);

export const keptByGuard: z.ZodType<KeptByGuard> = z.object({
  sent: z.array(z.object({ destination: z.string(), isCanary: z.boolean(), sent: z.number() })),
  countedTo: z.array(z.object({ slice: z.number(), request: z.number() })),
  usual: z
    .object({ source: z.enum(usualSources), runs: z.number(), whole: counts, at: byDestination })
    .nullable(),
  state: z.object({
    undelivered: z
      .object({
        drifts: z.record(z.string(), z.object({ limit: z.number(), starts: z.array(counts) })),
        canary: byDestination.optional(),
      })
      .optional(),
    quiet: z.object({ accepted: z.number(), reported: z.number(), dueMs: z.number() }),
    from: z.object({
      settled: z.number(),
      rejected: z.number(),
      unknown: z.number(),
      otherPrices: z.number(),
      sent: z.number(),
    }),
    warned: z.array(z.string()),
  }),
});
