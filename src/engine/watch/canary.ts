import { z } from 'zod';
import { frozenCanary } from '../../campaign/canary-definition.ts';
import { type CanaryCounts, type CanarySettings, decideCanary } from '../../decisions/canary.ts';
import type { CanarySize } from '../../domain/decisions.ts';
import type { CanaryWait } from '../../domain/waits.ts';
import { countSettled } from '../../ledger/counts/run-counts.ts';
import type { CanaryRule } from '../../ledger/planning/canary.ts';
import type { DispatchProgress } from '../../ledger/slices/progress.ts';
import type { Finding, Look } from './look.ts';

const frozenDefinition = z.object({ canary: frozenCanary });

/** @param definition as frozen in the run */
export function canaryOf(
  definition: unknown,
): (CanarySettings & { readonly recipients: CanarySize }) | undefined {
  return frozenDefinition.parse(definition).canary;
}

/** What goes first of a new run; undefined: its campaign has no canary. */
export function canaryRule(campaign: string, definition: unknown): CanaryRule | undefined {
  const canary = canaryOf(definition);
  return canary && { campaign, size: canary.recipients };
}

/** Of a run that is not promoted, so all that was sent is of the canary. */
export function canaryCounts({ canary, counts }: DispatchProgress): CanaryCounts {
  const { requests, recipients, divided } = counts;
  return {
    isSent: canary?.isSent ?? false,
    requests: {
      settled: countSettled(counts) - divided,
      rejected: requests.rejected - divided + requests.failed,
    },
    recipients,
  };
}

/** What a run waits for whose canary is sent. */
export function canaryWait({ canary, counts }: DispatchProgress, now: Date): CanaryWait | undefined {
  const settings = canaryOf({ canary: canary?.definition });
  if (!canary || !settings) return undefined;
  const { accepted, delivered, undelivered, unknown } = counts.recipients;
  const reported = delivered + undelivered;
  const lookedAt = (canary.lookedAt ?? now).getTime();
  return {
    kind: 'canary',
    since: new Date(lookedAt - canary.observedMs),
    until: new Date(lookedAt + Math.max(0, settings.observe - canary.observedMs)),
    reported,
    recipients: accepted + reported + unknown,
    asksPerson: settings.promote === 'manual',
  };
}

/** Promotes or pauses a run whose canary has been observed. */
export async function watchCanary({ definition, progress, observedMs }: Look): Promise<Finding> {
  const settings = canaryOf(definition);
  if (!settings || !progress.canary) return {};
  return { decision: decideCanary(settings, canaryCounts(progress), observedMs) };
}
