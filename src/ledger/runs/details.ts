import type { Knex } from 'knex';
import type pg from 'pg';
import type { RejectedContact, RequestState } from '../../domain.ts';

/** Contacts of a run that were left out, in the order of the files. */
export async function listRejectedContacts(
  pool: pg.Pool,
  run: string,
  limit: number,
): Promise<RejectedContact[]> {
  const { rows } = await pool.query<RejectedContact>(
    `
    SELECT coalesce(f.name, '') AS file, r.line - coalesce(f.lines_before, 0) AS line, r.column_name AS "column",
           r.reason, r.detail
    FROM (SELECT * FROM rejected_contacts WHERE run_id = $1 ORDER BY line LIMIT $2) r
    LEFT JOIN LATERAL (
      SELECT name, lines_before
      FROM contact_files
      WHERE run_id = $1 AND lines_before < r.line
      ORDER BY lines_before DESC
      LIMIT 1
    ) f ON true
    ORDER BY r.line
    `,
    [run, limit],
  );
  return rows;
}

/** Requests that did not end as accepted, grouped by state and the service's own words. */
export type Failure = {
  readonly state: RequestState;
  readonly reason: string | null;
  readonly requests: number;
  readonly recipients: number;
};

export async function listFailures(knex: Knex, run: string): Promise<Failure[]> {
  const rows: Failure[] = await knex('requests')
    .where({ run_id: run })
    .whereIn('state', ['rejected', 'failed', 'in_doubt', 'abandoned'])
    .groupBy('state', 'reason')
    .orderBy([{ column: 'requests', order: 'desc' }, 'state', 'reason'])
    .select(
      'state',
      'reason',
      knex.raw('count(*)::integer AS requests'),
      knex.raw('sum(recipients)::integer AS recipients'),
    );
  return rows;
}

/** Delivery results of a run in the service's own words. */
export type DeliveryResult = {
  readonly outcome: 'delivered' | 'undelivered';
  readonly result: string | null;
  readonly recipients: number;
};

export async function listDeliveryResults(knex: Knex, run: string): Promise<DeliveryResult[]> {
  const rows: DeliveryResult[] = await knex('recipient_outcomes')
    .where({ run_id: run })
    .groupBy('outcome', 'result')
    .orderBy([{ column: 'recipients', order: 'desc' }, 'outcome', 'result'])
    .select('outcome', 'result', knex.raw('count(*)::integer AS recipients'));
  return rows;
}
