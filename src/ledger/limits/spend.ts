import type pg from 'pg';

/**
 * Sets a reservation right once it is known what it was used for.
 *
 * @param unused requests that were reserved and not claimed: whoever asks next has their time; negative where more were
 *   sent than were reserved
 * @param recipients that were claimed beyond those that were reserved; negative where there were fewer
 */
export async function spendReservation(
  pool: pg.Pool,
  account: string,
  unused: number,
  recipients: number,
): Promise<void> {
  await pool.query(
    `
    UPDATE rate_limits
    SET requests_until = CASE
          WHEN requests_rate IS NULL THEN requests_until
          ELSE greatest(requests_until, clock_timestamp())
                 - make_interval(secs => greatest(-1e9, least($2::float8 / requests_rate, 1e9))) END,
        recipients_until = CASE
          WHEN recipients_rate IS NULL THEN recipients_until
          ELSE greatest(recipients_until, clock_timestamp())
                 + make_interval(secs => greatest(-1e9, least($3::float8 / recipients_rate, 1e9))) END
    WHERE account = $1
    `,
    [account, unused, recipients],
  );
}
