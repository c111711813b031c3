import { frozenVariants } from '../../campaign/variants-definition.ts';
import { addLook } from '../../decisions/observation.ts';
import { decideWinner } from '../../decisions/winner.ts';
import { lockRun, recordQuestion } from '../../ledger/run-states/transitions.ts';
import { findRun } from '../../ledger/runs/find.ts';
import { inTransaction } from '../../ledger/session.ts';
import { insertDecision } from '../../ledger/watch/decisions.ts';
import {
  askAboutRest,
  decideRest,
  listRunsToDecide,
  lockRest,
  readSendingMs,
  recordRestLook,
} from '../../ledger/watch/rests.ts';
import { readVariantResults } from '../../ledger/watch/variant-results.ts';
import type { EngineContext } from '../context.ts';
import { trace } from '../trace-points.ts';

/** What was decided about a run. `variant` is null: a person decides. */
export type DecidedWinner = { readonly run: string; readonly variant: number | null };

/**
 * Looks at runs that are sent, of which the winner is not decided. A decision and what it is based on are one commit, so each
 * run is decided once.
 */
export async function decideWinners({
  ledger: { pool, knex },
}: Pick<EngineContext, 'ledger'>): Promise<DecidedWinner[]> {
  const decided: DecidedWinner[] = [];
  for (const run of await listRunsToDecide(pool)) {
    const found = await findRun(knex, run);
    const { variants = [], until } = frozenVariants.parse(found?.definition);
    if (!until) continue;
    const decision = await inTransaction(pool, async (client) => {
      const state = await lockRun(client, run);
      const rest = await lockRest(client, run);
      if (state !== 'completed' || !rest || rest.variant !== null || rest.problem !== null) return undefined;
      const { now: lookedAt, sinceLookMs } = rest;
      const observedMs = addLook(rest.observedMs, sinceLookMs);
      await recordRestLook(client, run, { observedMs, lookedAt });
      const results = new Map((await readVariantResults(client, run)).map((each) => [each.variant, each]));
      const counts = variants.flatMap(({ name, send }, index) => {
        const variant = index + 1;
        return send === 'nothing' ? [] : [{ ...none, ...results.get(variant), variant, name }];
      });
      const sendingMs = await readSendingMs(client, run);
      const made = decideWinner(until, counts, { observedMs, sendingMs });
      if (made.kind === 'open') return undefined;
      const { kind, record, variant } = made;
      await insertDecision(client, run, { kind, by: null, record }, lookedAt);
      if (variant === null) {
        await askAboutRest(client, run, 'No variant is clearly better.');
        await recordQuestion(client, run, 'no variant is clearly better, and a person decides', lookedAt);
      } else await decideRest(client, run, variant);
      return { run, variant };
    });
    if (!decision) continue;
    trace('winner decided', run);
    decided.push(decision);
  }
  return decided;
}

/** Of a variant that no contact of the part has. */
const none = { accepted: 0, undelivered: 0, replied: 0, optedOut: 0 };
