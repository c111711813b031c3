import type { Channel } from '../../domain/message.ts';
import type { RunState } from '../../domain/runs.ts';
import { subtractAmounts } from '../../platform/money.ts';
import { streamRows } from '../cursor.ts';
import type { ReadConnection, Snapshot } from '../session.ts';

/** What a run, or a payer in it, costs. Money is exact decimals, as text. */
export type RunCost = {
  readonly recipients: number;
  readonly accepted: number;
  readonly price: string;
  readonly estimated: string;
  readonly estimatedTax: string;
  /** price - estimated. */
  readonly difference: string;
  /** Accepted recipients without a price in the rate card. */
  readonly unrated: number;
};

/** `value`: a SubAccount or ChargeCode; null: none. */
export type PayerCost = RunCost & { readonly value: string | null };

/** The payers with the highest price, and the sum of all others, if there are any. */
export type PayerCosts = {
  readonly lines: readonly PayerCost[];
  readonly others: (RunCost & { readonly count: number }) | null;
};

export type RunCosts = {
  readonly currency: string | null;
  readonly total: RunCost;
  readonly bySubAccount: PayerCosts;
  readonly byChargeCode: PayerCosts;
};

type DbCost = PayerCost & {
  readonly by: 'run' | 'SubAccount' | 'ChargeCode';
  /** How many payers there are in all. */
  readonly values: number;
  readonly currency: string | null;
};

/**
 * Reads what one run costs: the sum of its billing entries.
 *
 * @param limit of each list
 * @param of `booked`: reads a row for each payer, however many requests the run has; `bookRun` books a run up to now.
 * `all`: adds up what is not booked too
 */
export async function readRunCosts(
  client: ReadConnection,
  run: string,
  limit: number,
  of: keyof typeof sources = 'booked',
): Promise<RunCosts> {
  const { rows } = await client.query<DbCost>(buildStatement(sources[of]), [run, limit]);
  const found = rows.find(({ by }) => by === 'run');
  const total = found ? costOf(found) : noCost;
  const payers = (wanted: DbCost['by']): PayerCosts => {
    const own = rows.filter(({ by }) => by === wanted);
    const lines = own.map((row) => ({ value: row.value, ...costOf(row) }));
    const count = (own[0]?.values ?? 0) - lines.length;
    return { lines, others: count === 0 ? null : { ...lines.reduce(subtract, total), count } };
  };
  return {
    currency: found?.currency ?? null,
    total,
    bySubAccount: payers('SubAccount'),
    byChargeCode: payers('ChargeCode'),
  };
}

const costOf = ({ by, value, values, currency, ...cost }: DbCost): RunCost => cost;

const noCost: RunCost = {
  recipients: 0,
  accepted: 0,
  price: '0',
  estimated: '0',
  estimatedTax: '0',
  difference: '0',
  unrated: 0,
};

function subtract(one: RunCost, other: RunCost): RunCost {
  return {
    recipients: one.recipients - other.recipients,
    accepted: one.accepted - other.accepted,
    price: subtractAmounts(one.price, other.price),
    estimated: subtractAmounts(one.estimated, other.estimated),
    estimatedTax: subtractAmounts(one.estimatedTax, other.estimatedTax),
    difference: subtractAmounts(one.difference, other.difference),
    unrated: one.unrated - other.unrated,
  };
}

const places = 'price DESC, estimated DESC, recipients DESC, value NULLS LAST';

const sources = {
  booked: 'SELECT * FROM run_costs WHERE run_id = $1',
  all: `
    SELECT (ARRAY['SubAccount', 'ChargeCode', 'run'])[grouping(sub_account, charge_code)] AS by,
           CASE grouping(sub_account, charge_code) WHEN 1 THEN sub_account WHEN 2 THEN charge_code END AS value,
           sum(recipients) AS recipients, sum(accepted) AS accepted, sum(price) AS price, sum(estimated) AS estimated,
           sum(estimated_tax) AS estimated_tax, sum(unrated) AS unrated
    FROM all_entries
    WHERE run_id = $1
    GROUP BY GROUPING SETS ((), (sub_account), (charge_code))`,
} as const;

/** Ranking by a window function takes six times as long. */
const buildStatement = (source: string): string => `
  WITH cost AS MATERIALIZED (
    SELECT *
    FROM (${source}) each
    -- Requests of a payer that were in flight may not have been sent.
    WHERE recipients <> 0 OR price <> 0 OR estimated <> 0
  )
  SELECT by, value, recipients::float8 AS recipients, accepted::float8 AS accepted, price::text, estimated::text,
         estimated_tax::text AS "estimatedTax", (price - estimated)::text AS difference, unrated::float8 AS unrated,
         all_values.values,
         (SELECT rates ->> 'currency' FROM runs WHERE run_id = $1) AS currency
  FROM unnest(ARRAY['run', 'SubAccount', 'ChargeCode']) AS kind
  CROSS JOIN LATERAL (SELECT count(*)::integer AS values FROM cost WHERE by = kind) all_values
  CROSS JOIN LATERAL (SELECT * FROM cost WHERE by = kind ORDER BY ${places} LIMIT $2) top
  ORDER BY by, top.${places}
`;

/** An empty list of campaigns selects all. */
export type CampaignQuery = {
  readonly campaigns: readonly string[];
  /** Local dates or times: selects runs planned at `from` or later and before `until`. */
  readonly from: string | null;
  readonly until: string | null;
  readonly timeZone: string;
};

/** The figures of one run or several. Money is exact decimal text. */
export type RunFigures = {
  readonly contactsRead: number;
  readonly contactsLeftOut: number;
  readonly requests: number;
  readonly recipients: number;
  readonly accepted: number;
  readonly delivered: number;
  readonly undelivered: number;
  readonly failed: number;
  readonly unknown: number;
  readonly price: string;
  readonly estimated: string;
  readonly currency: string | null;
};

export type CampaignRun = RunFigures & {
  readonly run: string;
  readonly campaign: string;
  readonly account: string;
  readonly channel: Channel;
  readonly state: RunState;
  readonly plannedAt: Date;
  readonly begunAt: Date | null;
  readonly finishedAt: Date | null;
  /** Seconds from start to end, pauses included, one decimal place; null before the end. */
  readonly seconds: string | null;
  readonly requestsPerSecond: string | null;
};

/** Reads the newest runs first. */
export function streamCampaignRuns(
  client: Snapshot,
  query: CampaignQuery,
): AsyncGenerator<readonly CampaignRun[], void, undefined> {
  const duration = 'extract(epoch FROM finished_at - begun_at)';
  const sql = `
    ${runClauses}
    SELECT run_id AS run, campaign, account, channel, state, created_at AS "plannedAt", begun_at AS "begunAt",
           finished_at AS "finishedAt", ${figures}, currency,
           round(${duration}, 1)::text AS seconds, round(requests / nullif(${duration}, 0), 1)::text AS "requestsPerSecond"
    FROM figures_of_run
    ORDER BY created_at DESC, run_id DESC
  `;
  return streamRows<CampaignRun>(client, 'campaign_runs', { sql, values: queryValues(query) }, 1_000);
}

/** Returns one row for each currency. */
export async function sumCampaignRuns(client: Snapshot, query: CampaignQuery): Promise<RunFigures[]> {
  const sums = figureColumns.map((column) => `sum(${column}) AS ${column}`).join(', ');
  const { rows } = await client.query<RunFigures>(
    `
    ${runClauses}
    SELECT ${figures}, currency
    FROM (SELECT currency, ${sums} FROM figures_of_run GROUP BY currency) figures_of_run
    ORDER BY currency NULLS LAST
    `,
    queryValues(query),
  );
  return rows;
}

const billedColumns = [
  'requests',
  'recipients',
  'accepted',
  'delivered',
  'undelivered',
  'failed',
  'unknown',
  'price',
  'estimated',
] as const;
/** What can be added up. */
export const runFigureNames: readonly string[] = [
  'contactsRead',
  'contactsLeftOut',
  ...billedColumns,
] satisfies readonly (keyof RunFigures)[];

const figureColumns = ['contacts_read', 'contacts_left_out', ...billedColumns];

const figures = `
  contacts_read::float8 AS "contactsRead", contacts_left_out::float8 AS "contactsLeftOut",
  ${billedColumns.map((column) => `${column}::${column === 'price' || column === 'estimated' ? 'text' : 'float8'} AS ${column}`).join(', ')}`;

const runClauses = `
  WITH selected_runs AS MATERIALIZED (
    SELECT run_id, campaign, account, channel, state, created_at, finished_at, rates ->> 'currency' AS currency,
           contacts_read, contacts_invalid + contacts_duplicate + contacts_suppressed + coalesce(contacts_beyond_limit, 0) AS contacts_left_out
    FROM runs
    WHERE kind = 'ordinary' AND (cardinality($1::text[]) = 0 OR campaign = ANY ($1))
      AND ($2::text IS NULL OR created_at >= $2::timestamp AT TIME ZONE $4)
      AND ($3::text IS NULL OR created_at < $3::timestamp AT TIME ZONE $4)
  ), sums AS (
    SELECT run_id, ${billedColumns.map((column) => `sum(${column}) AS ${column}`).join(', ')}
    FROM all_entries
    WHERE run_id IN (SELECT run_id FROM selected_runs)
    GROUP BY run_id
  ), started AS (
    SELECT run_id, min(changed_at) AS begun_at
    FROM run_states
    WHERE state = 'running' AND run_id IN (SELECT run_id FROM selected_runs)
    GROUP BY run_id
  ), figures_of_run AS (
    SELECT selected_runs.*, begun_at, ${billedColumns.map((column) => `coalesce(${column}, 0) AS ${column}`).join(', ')}
    FROM selected_runs
    LEFT JOIN sums USING (run_id)
    LEFT JOIN started USING (run_id)
  )`;

function queryValues({ campaigns, from, until, timeZone }: CampaignQuery): unknown[] {
  return [campaigns, from, until, timeZone];
}
