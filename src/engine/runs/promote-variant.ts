import { frozenVariants } from '../../campaign/variants-definition.ts';
import { recordWinner } from '../../decisions/winner.ts';
import { InputError } from '../../domain/problems.ts';
import { lockRun } from '../../ledger/run-states/transitions.ts';
import { inTransaction } from '../../ledger/session.ts';
import { insertDecision } from '../../ledger/watch/decisions.ts';
import { decideRest, lockRest } from '../../ledger/watch/rests.ts';
import { readVariantResults } from '../../ledger/watch/variant-results.ts';
import { audited } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { requireRun } from './find-run.ts';

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
    const sent = variants.flatMap((each) => (each.send === undefined ? each.name : []));
    if (!sent.includes(name))
      refuse(`It has no variant "${name}" that is sent; expected ${sent.join(', ') || 'none'}.`);
    await inTransaction(context.ledger.pool, async (client) => {
      const state = await lockRun(client, runId);
      const rest = await lockRest(client, runId);
      if (!rest || !until) return refuse('No part of it waits for a winner.');
      if (state !== 'completed') return refuse(`It is ${state}; decide once its variants are sent.`);
      if (rest.variant !== null) return refuse('Its winner is decided.');
      const counts = await readVariantResults(client, runId);
      const record = recordWinner('operator', until, counts, { observedMs: rest.observedMs, sends: name });
      const by = { user: context.actor.name, reason };
      await insertDecision(client, runId, { kind: 'winner', by, record }, context.now());
      await decideRest(client, runId, variants.findIndex((each) => each.name === name) + 1);
      await addAuditEntry(client);
    });
  });
}
