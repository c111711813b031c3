import { z } from 'zod';
import { frozenVariants } from '../../campaign/variants-definition.ts';
import { decideWinner } from '../../decisions/winner.ts';
import { readSendingMs } from '../../ledger/watch/rests.ts';
import { readVariantResults } from '../../ledger/watch/variant-results.ts';
import type { Watcher } from './look.ts';

/** What the looks keep in `run_watches.evidence`: how long all variants are sent (milliseconds). */
const keptOfVariants = z.object({ observedMs: z.number() }).default({ observedMs: 0 });

export function observedVariantsMs(evidence: unknown): number {
  return keptOfVariants.parse(evidence).observedMs;
}

/** Whether a part of the contacts waits for the better variant. */
export function waitsForWinner(definition: unknown): boolean {
  return frozenVariants.parse(definition).until !== undefined;
}

/** Decides which variant of a sent run the rest gets, or asks a person. */
export const watchVariants: Watcher = async ({ client, run, definition, progress, lookMs, evidence }) => {
  const { variants = [], until } = frozenVariants.parse(definition);
  const { rest } = progress;
  if (!until || !rest || rest.isDecided || rest.problem !== null) return {};
  const observedMs = observedVariantsMs(evidence) + lookMs;
  const results = new Map((await readVariantResults(client, run)).map((each) => [each.variant, each]));
  const counts = variants.flatMap(({ name, send }, index) => {
    const variant = index + 1;
    return send === 'nothing' ? [] : [{ ...none, ...results.get(variant), variant, name }];
  });
  const sendingMs = await readSendingMs(client, run);
  return {
    evidence: { observedMs },
    decision: decideWinner(until, counts, { observedMs, sendingMs }),
  };
};

/** Of a variant that no contact of the part has. */
const none = { accepted: 0, undelivered: 0, replied: 0, optedOut: 0 };
