import type { Knex } from 'knex';
import type pg from 'pg';
import {
  type DeliveryOutcome,
  deliveryOutcomes,
  type RejectedContact,
  type RequestState,
  type Resolution,
} from '../../domain.ts';

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
  /** Without those that were left out of their request. */
  readonly recipients: number;
};

export async function listFailures(knex: Knex, run: string): Promise<Failure[]> {
  const leftOut = knex('recipient_outcomes')
    .where({ run_id: run, outcome: 'cancelled' })
    .groupBy('request')
    .select('request', knex.raw('count(*) AS cancelled'))
    .as('left_out');
  const rows: Failure[] = await knex('requests')
    .leftJoin(leftOut, 'left_out.request', 'requests.request')
    .where({ run_id: run })
    .whereIn('state', ['rejected', 'failed', 'in_doubt', 'abandoned'])
    .groupBy('state', 'reason')
    .orderBy([{ column: 'requests', order: 'desc' }, 'state', 'reason'])
    .select(
      'state',
      'reason',
      knex.raw('count(*)::integer AS requests'),
      knex.raw('sum(recipients - coalesce(cancelled, 0))::integer AS recipients'),
    );
  return rows;
}

/** What operators said of requests that were in doubt, grouped by their words. */
export type ResolutionGroup = {
  readonly resolution: Resolution;
  readonly by: string;
  readonly reason: string;
  readonly requests: number;
  /** When the last of them was resolved. */
  readonly at: Date;
};

export async function listResolutions(knex: Knex, run: string): Promise<ResolutionGroup[]> {
  const rows: ResolutionGroup[] = await knex('resolutions')
    .where({ run_id: run })
    .groupBy('resolution', 'resolved_by', 'reason')
    .orderBy([{ column: 'at' }, 'resolution', 'resolved_by', 'reason'])
    .select(
      'resolution',
      { by: 'resolved_by' },
      'reason',
      knex.raw('count(*)::integer AS requests'),
      knex.raw('max(resolved_at) AS at'),
    );
  return rows;
}

/** Delivery results of a run in the service's own words. */
export type DeliveryResult = {
  readonly outcome: DeliveryOutcome;
  readonly result: string | null;
  readonly recipients: number;
};

export async function listDeliveryResults(knex: Knex, run: string): Promise<DeliveryResult[]> {
  const rows: DeliveryResult[] = await knex('recipient_outcomes')
    .where({ run_id: run })
    .whereIn('outcome', [...deliveryOutcomes])
    .groupBy('outcome', 'result')
    .orderBy([{ column: 'recipients', order: 'desc' }, 'outcome', 'result'])
    .select('outcome', 'result', knex.raw('count(*)::integer AS recipients'));
  return rows;
}

/** Reports of a run that say another final outcome than the first one of their recipient did. */
export type Conflicts = { readonly reports: number; readonly recipients: number };

export async function countConflicts(pool: pg.Pool, run: string): Promise<Conflicts> {
  const { rows } = await pool.query<Conflicts>(
    `
    SELECT count(*)::integer AS reports, count(DISTINCT (request, position))::integer AS recipients
    FROM reports
    WHERE run_id = $1 AND state = 'conflicting'
    `,
    [run],
  );
  return rows[0] ?? { reports: 0, recipients: 0 };
}

/** Recipients that were cancelled after the run was planned, by the reason. */
export type Cancellation = { readonly reason: string; readonly recipients: number };

export async function listCancellations(knex: Knex, run: string): Promise<Cancellation[]> {
  const rows: Cancellation[] = await knex('recipient_outcomes')
    .where({ run_id: run, outcome: 'cancelled' })
    .groupBy('result')
    .orderBy([{ column: 'recipients', order: 'desc' }, 'result'])
    .select({ reason: 'result' }, knex.raw('count(*)::integer AS recipients'));
  return rows;
}
