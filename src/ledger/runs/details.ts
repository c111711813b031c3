import type { Knex } from 'knex';
import type { RejectedContact, RequestState } from '../../domain.ts';

/** Contacts of a run that were left out, in the order of the file. */
export async function listRejectedContacts(
  knex: Knex,
  run: string,
  limit: number,
): Promise<RejectedContact[]> {
  const rows: RejectedContact[] = await knex('rejected_contacts')
    .where({ run_id: run })
    .orderBy('line')
    .limit(limit)
    .select('line', { column: 'column_name' }, 'reason', 'detail');
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
  const rows: DeliveryResult[] = await knex('recipients')
    .where({ run_id: run })
    .whereNotNull('outcome')
    .groupBy('outcome', 'result')
    .orderBy([{ column: 'recipients', order: 'desc' }, 'outcome', 'result'])
    .select('outcome', 'result', knex.raw('count(*)::integer AS recipients'));
  return rows;
}
