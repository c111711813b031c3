import type { MissedTicks, NotificationPayload } from '../../domain/notify.ts';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { AcquiredNotification } from '../../ledger/notifications/acquire.ts';
import { inSnapshot } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import { readSummary } from '../runs/find-run.ts';
import { readWaits } from '../runs/waits.ts';

/** A run's counts, and what it waits for, are read now. @throws InputError if the run no longer exists */
export async function describeEvent(
  context: EngineContext,
  { about, event, reason: noted, createdAt }: AcquiredNotification,
): Promise<NotificationPayload> {
  const reason = formatReasonOrNull(noted);
  const timestamp = createdAt.toISOString();
  if (about.kind === 'schedule') {
    return {
      type: 'schedule.missed',
      timestamp,
      data: { ...about.missed, reason: missedReason(about.missed, reason) },
    };
  }
  if (about.kind === 'refusal') {
    return { type: 'run.refused', timestamp, data: { ...about.refused, schedule: about.schedule } };
  }
  if (event === 'missed' || event === 'refused') throw new Error(`run ${about.run} cannot be ${event}`);
  return inSnapshot(context.ledger.pool, async (client) => {
    const summary = await readSummary(client, about.run);
    const waitsFor = (await readWaits(client, [about.run], context.now())).get(about.run) ?? [];
    return { type: `run.${event}`, timestamp, data: { ...summary, reason, waitsFor } };
  });
}

/** A planning failure may quote a contact file, so it stays in the ledger. */
function missedReason({ state }: MissedTicks, reason: string | null): string | null {
  return reason ?? (state === 'failed' ? 'it could not be planned; volley schedule list says why' : null);
}
