import type { MissedTicks, NotificationPayload } from '../../domain/notify.ts';
import type { AcquiredNotification } from '../../ledger/notifications/acquire.ts';
import { formatReasonOrNull } from '../../platform/reason-text.ts';
import type { EngineContext } from '../context.ts';
import { requireSummary } from '../runs/find-run.ts';

/** Of a run, its counts as they are now. @throws InputError when there is no such run any more */
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
  return { type: `run.${event}`, timestamp, data: { ...(await requireSummary(context, about.run)), reason } };
}

/** Why a run could not be planned may quote a contact file, so it stays in the ledger; why it was refused does not. */
function missedReason({ state }: MissedTicks, reason: string | null): string | null {
  return reason ?? (state === 'failed' ? 'it could not be planned; volley schedule list says why' : null);
}
