import type { RefusedRun } from '../../domain/problems.ts';
import { batchOf } from '../batch.ts';
import { reasonValue } from '../reasons.ts';
import type { Transaction } from '../session.ts';

/** A time of a schedule that made no run, or several that were missed at once. */
export type MissedTick = {
  readonly schedule: string;
  readonly state: 'missed' | 'failed';
  readonly times: number;
  readonly first: Date;
  readonly last: Date;
  /** Why it was missed; of a run that could not be planned it may quote a contact file, so it stays where it is. */
  readonly reason: string | null;
  /** Of a run that was refused because of its contacts. */
  readonly refused: RefusedRun | null;
};

const noted = batchOf<MissedTick>({
  schedule: ['text', ({ schedule }) => schedule],
  tick: ['timestamptz', ({ last }) => last],
  missed: [
    'jsonb',
    ({ times, first, last, state }) =>
      JSON.stringify({ times, from: toTheSecond(first), until: toTheSecond(last), state }),
  ],
  refused: ['jsonb', ({ refused }) => refused && JSON.stringify(refused)],
  reason: [
    'jsonb',
    ({ state, reason, refused }) =>
      reasonValue(refused ? refused.reason : state === 'missed' ? reason : null),
  ],
});

/**
 * Notes times that made no run for each target that asks for it, in the transaction that ends them. One whose run was
 * refused has one notification for a target, whether the target asks for refused runs or for missed times.
 */
export async function noteMissedTimes(client: Transaction, missed: readonly MissedTick[]): Promise<void> {
  if (missed.length === 0) return;
  await client.query(
    `
    INSERT INTO notifications (schedule, tick, place, event, target, missed, refused, reason, noted_at)
    SELECT s.schedule, m.tick, each.place,
           CASE WHEN m.refused IS NOT NULL AND each.target -> 'on' @> '"refused"' THEN 'refused' ELSE 'missed' END,
           each.target, m.missed || jsonb_build_object('campaign', s.campaign), m.refused, m.reason, now()
    FROM ${noted.table('m')}
    JOIN schedules s ON s.schedule = m.schedule
    CROSS JOIN LATERAL jsonb_array_elements(s.notify) WITH ORDINALITY AS each (target, place)
    WHERE each.target -> 'on' @> '"missed"' OR (m.refused IS NOT NULL AND each.target -> 'on' @> '"refused"')
    `,
    noted.values(missed),
  );
}

/** ISO 8601; times of schedules are of whole minutes. */
function toTheSecond(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
