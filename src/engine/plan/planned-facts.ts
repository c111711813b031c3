import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { type CostEstimate, estimateCost, sumParts } from '../../campaign/cost.ts';
import type { Channel } from '../../domain/message.ts';
import { InputError } from '../../domain/problems.ts';
import type { CostTotal } from '../../domain/rate-card.ts';
import type { PartCauses } from '../../domain/sms.ts';
import type { PlannedVariant } from '../../domain/variants.ts';
import { type Approval, findApproval } from '../../ledger/approvals/approvals.ts';
import { listRejections, type RejectionGroup } from '../../ledger/counts/groups.ts';
import {
  listPlannedWindows,
  readCanaryOfRun,
  readPlannedHead,
  sumPlannedRun,
  type WindowOfRun,
} from '../../ledger/planning/planned-totals.ts';
import type { AccountNamed, EngineContext } from '../context.ts';
import { requireUnpurgedRun } from '../runs/find-run.ts';
import { guardOf } from '../watch/guard.ts';
import { forecastPortions, type RunForecast } from './forecast.ts';
import { noteSentence, watchNotes } from './plan-notes.ts';

/** What a run would send, or was planned to send, for the person who decides about it. */
export type PlanFigures = {
  readonly account: string;
  readonly channel: Channel;
  readonly contactsRead: number;
  readonly recipients: number;
  readonly requests: number;
  /** SMS parts; null in other channels. */
  readonly smsParts: number | null;
  /** Null: not known any more, or another channel. */
  readonly partCauses: PartCauses | null;
  readonly cost: CostEstimate;
  /** Null: there are none, or they are not known any more. */
  readonly variants: readonly PlannedVariant[] | null;
  /** An exact decimal in the currency of the estimate; null: the campaign has none. */
  readonly budget: string | null;
  readonly rejections: readonly RejectionGroup[];
  readonly windows: readonly WindowOfRun[];
  /** Above this number of recipients, a person types their number. */
  readonly confirmAboveRecipients: number;
  /** If it starts now. Null: this process lacks the account. */
  readonly forecast: Pick<RunForecast, 'endsAt' | 'limits' | 'deadline'> | null;
};

export type PlannedRunFacts = PlanFigures & {
  readonly approval: Approval | undefined;
  /** How it is watched, in sentences. */
  readonly notes: readonly string[];
};

/** @throws InputError when there is no such run, or it was purged */
type ReadPlannedFacts = (
  context: EngineContext,
  run: string,
  accountNamed: AccountNamed,
) => Promise<PlannedRunFacts>;

const budgeted = z.object({ budget: z.object({ campaign: z.string().optional() }).optional() });

/** The budget in a frozen definition. */
export function budgetOf(definition: unknown): string | null {
  return budgeted.catch({}).parse(definition).budget?.campaign ?? null;
}

/** Memoizes the sums of the last runs: a plan does not change, and adding it up takes a second for a million. */
export function createPlannedFacts(): ReadPlannedFacts {
  const sums = new LRUCache<string, Promise<readonly CostTotal[]>>({ max: 50 });
  return async (context, name, accountNamed) => {
    const { pool } = context.ledger;
    const run = await requireUnpurgedRun(context, name);
    const summing = sums.get(name) ?? sumPlannedRun(pool, name);
    sums.set(name, summing);
    const totals = await summing.catch((error: unknown) => {
      sums.delete(name);
      throw error;
    });
    const { channel, definition } = run;
    // A process without the account forecasts nothing, and every number is typed.
    const account = await accountNamed(run.account).catch((error: unknown) => {
      if (!(error instanceof InputError)) throw error;
    });
    const [{ rates, contactsRead, requests }, windows, rejections] = [
      await readPlannedHead(pool, name),
      await listPlannedWindows(pool, name),
      await listRejections(pool, name),
    ];
    const recipients = totals.reduce((sum, each) => sum + each.recipients, 0);
    // The recipients of a window are not counted: each request is taken to have as many.
    const perRequest = recipients / Math.max(1, requests);
    const toPortion = (each: WindowOfRun) => ({ ...each, recipients: each.requests * perRequest });
    const settings = guardOf(definition);
    const notes = watchNotes({
      recipients,
      canary: run.state === 'planned' ? await readCanaryOfRun(pool, name) : null,
      guard: settings ? { settings, former: null } : null,
    });
    return {
      account: run.account,
      channel,
      contactsRead,
      recipients,
      requests,
      approval: await findApproval(pool, name),
      notes: notes.map(noteSentence),
      smsParts: sumParts(totals, channel),
      partCauses: null,
      variants: null,
      cost: estimateCost(totals, channel, rates, context.now()),
      budget: budgetOf(definition),
      rejections,
      windows,
      confirmAboveRecipients: account?.confirmAboveRecipients ?? 0,
      forecast: account
        ? await forecastPortions(
            pool,
            { account, definition },
            windows.length > 0 ? windows.map(toPortion) : [{ zones: [], requests, recipients, sendAt: null }],
            context.now(),
          )
        : null,
    };
  };
}
