import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { type CostEstimate, estimateCost, sumParts } from '../../campaign/cost.ts';
import type { CostTotal } from '../../domain/rate-card.ts';
import { type Approval, findApproval } from '../../ledger/approvals/approvals.ts';
import { listRejections, type RejectionGroup } from '../../ledger/counts/groups.ts';
import {
  listPlannedWindows,
  readPlannedHead,
  sumPlannedRun,
  type WindowOfRun,
} from '../../ledger/planning/planned-totals.ts';
import type { EngineContext } from '../context.ts';
import { requireUnpurgedRun } from '../runs/find-run.ts';

/** What a run was planned to send, for the person who approves it. */
export type PlannedRunFacts = {
  readonly contactsRead: number;
  readonly recipients: number;
  readonly requests: number;
  readonly approval: Approval | undefined;
  /** SMS parts; null in other channels. */
  readonly smsParts: number | null;
  readonly cost: CostEstimate;
  /** An exact decimal in the currency of the estimate; null: the campaign has none. */
  readonly budget: string | null;
  readonly rejections: readonly RejectionGroup[];
  readonly windows: readonly WindowOfRun[];
};

type PlannedFacts = {
  /** @throws InputError when there is no such run, or it was purged */
  readonly read: (context: EngineContext, run: string) => Promise<PlannedRunFacts>;
};

const budgeted = z.object({ budget: z.object({ campaign: z.string().optional() }).optional() });

/** Memoizes the sums of the last runs: a plan does not change, and adding it up takes a second for a million. */
export function createPlannedFacts(): PlannedFacts {
  const sums = new LRUCache<string, Promise<readonly CostTotal[]>>({ max: 50 });
  return {
    read: async (context, run) => {
      const { pool } = context.ledger;
      const { channel, definition } = await requireUnpurgedRun(context, run);
      const summing = sums.get(run) ?? sumPlannedRun(pool, run);
      sums.set(run, summing);
      const totals = await summing.catch((error: unknown) => {
        sums.delete(run);
        throw error;
      });
      const { budget } = budgeted.catch({}).parse(definition);
      const [{ rates, contactsRead, requests }, windows, rejections] = [
        await readPlannedHead(pool, run),
        await listPlannedWindows(pool, run),
        await listRejections(pool, run),
      ];
      return {
        contactsRead,
        recipients: totals.reduce((sum, { recipients }) => sum + recipients, 0),
        requests,
        approval: await findApproval(pool, run),
        smsParts: sumParts(totals, channel),
        cost: estimateCost(totals, channel, rates, context.now()),
        budget: budget?.campaign ?? null,
        rejections,
        windows,
      };
    },
  };
}
