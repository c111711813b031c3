import type pg from 'pg';

/** A schedule as its campaign file has it. */
export type SyncedSchedule = {
  /** The campaign file, as the folder of campaigns has it. */
  readonly schedule: string;
  readonly campaign: string;
  /** Parsed again by who reads it. */
  readonly times: unknown;
  /** Who is told of times that made no run. Parsed again by who reads it. */
  readonly notify: readonly unknown[];
};

/**
 * Makes the ledger's schedules those of a folder: what is new begins now, what is gone is not active any more, and what
 * has other times than before has them from now on.
 *
 * @param untouched schedules of which nothing is known now
 * @param now ticks after this are noted
 */
export async function syncSchedules(
  client: pg.ClientBase,
  schedules: readonly SyncedSchedule[],
  untouched: readonly string[],
  now: Date,
): Promise<void> {
  const names = schedules.map(({ schedule }) => schedule);
  await client.query(
    `
    INSERT INTO schedules AS s (schedule, campaign, times, notify, active, noted_until)
    SELECT schedule, campaign, times, notify, true, $4
    FROM unnest($1::text[], $2::text[], $3::jsonb[], $5::jsonb[]) AS written (schedule, campaign, times, notify)
    ORDER BY schedule
    ON CONFLICT (schedule) DO UPDATE
    SET campaign = excluded.campaign, times = excluded.times, notify = excluded.notify,
        active = true,
        noted_until = CASE WHEN s.active AND s.times = excluded.times THEN s.noted_until ELSE $4 END
    WHERE NOT s.active OR s.times <> excluded.times OR s.campaign <> excluded.campaign
       OR s.notify <> excluded.notify
    `,
    [
      names,
      schedules.map(({ campaign }) => campaign),
      schedules.map(({ times }) => JSON.stringify(times)),
      now,
      schedules.map(({ notify }) => JSON.stringify(notify)),
    ],
  );
  await client.query('UPDATE schedules SET active = false WHERE active AND schedule <> ALL ($1::text[])', [
    [...names, ...untouched],
  ]);
}
