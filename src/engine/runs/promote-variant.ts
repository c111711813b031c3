import type { z } from 'zod';
import { frozenVariants } from '../../campaign/variants-definition.ts';
import { recordWinner } from '../../decisions/winner.ts';
import { InputError } from '../../domain/problems.ts';
import { lockRun } from '../../ledger/run-states/transitions.ts';
import { inTransaction } from '../../ledger/session.ts';
import { readDispatchProgress } from '../../ledger/slices/progress.ts';
import { insertDecision } from '../../ledger/watch/decisions.ts';
import { decideRest, lockRest } from '../../ledger/watch/rests.ts';
import { readVariantResults } from '../../ledger/watch/variant-results.ts';
import { audited } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { requireRun } from './find-run.ts';

/** The names of the variants that the rest of a run can get; empty: nothing of it waits for a winner. */
export async function listPromotable(context: EngineContext, run: string): Promise<readonly string[]> {
  const { definition } = await requireRun(context, run);
  const progress = (await readDispatchProgress(context.ledger.pool, [run])).get(run);
  if (progress?.state !== 'completed' || !progress.rest || progress.rest.isDecided) return [];
  return sentNames(frozenVariants.parse(definition).variants);
}

function sentNames(variants: z.output<typeof frozenVariants>['variants'] = []): string[] {
  return variants.flatMap(({ name, send }) => (send === undefined ? name : []));
}

/**
 * Decides by hand which variant the rest of a run gets.
 *
 * @param name of the variant
 * @throws InputError unless the run is sent and waits for its winner
 */
export async function promoteVariant(
  context: EngineContext,
  runId: string,
  name: string,
  reason: string,
): Promise<void> {
  const { definition } = await requireRun(context, runId);
  const { variants = [], until } = frozenVariants.parse(definition);
  const refuse = (what: string): never => {
    throw new InputError([{ where: `run ${runId}`, what }]);
  };
  const event = { action: 'run promoted', run: runId, details: { reason, variant: name } } as const;
  await audited(context, event, async (addAuditEntry) => {
    const sent = sentNames(variants);
    if (!sent.includes(name))
      refuse(`It has no variant "${name}" that is sent; expected ${sent.join(', ') || 'none'}.`);
    await inTransaction(context.ledger.pool, async (client) => {
      const state = await lockRun(client, runId);
      const rest = await lockRest(client, runId);
      if (!rest || !until || rest.variant !== null) return refuse('No part of it waits for a winner.');
      if (state !== 'completed') return refuse(`It is ${state}; decide once its variants are sent.`);
      const counts = await readVariantResults(client, runId);
      const record = recordWinner('operator', until, counts, { observedMs: rest.observedMs, sends: name });
      const by = { user: context.actor.name, reason };
      await insertDecision(client, runId, { kind: 'winner', by, record }, context.now());
      await decideRest(client, runId, variants.findIndex((each) => each.name === name) + 1);
      await addAuditEntry(client);
    });
  });
}
