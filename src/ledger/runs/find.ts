import type { Knex } from 'knex';
import type pg from 'pg';
import type { AuditAction, AuditInterface } from '../../domain/access.ts';
import type { Channel } from '../../domain/message.ts';
import type { RunReason } from '../../domain/reasons.ts';
import type { RunKind, RunState } from '../../domain/runs.ts';
import { outcomeOfRun, type RunOutcome } from '../counts/run-outcome.ts';
import { runReason, type Stored } from '../reasons.ts';
import type { Connection, ReadConnection } from '../session.ts';
import { hasOpenRest } from '../watch/rests.ts';

export type Run = ListedRun & {
  /** As planned; `engine` wrote and parses it. */
  readonly definition: unknown;
};

/** A run in a list, with what came of it. */
export type RunWithOutcome = ListedRun & { readonly outcome: RunOutcome };

/** A run without its definition, which can have a megabyte. */
export type ListedRun = {
  readonly run: string;
  readonly campaign: string;
  readonly account: string;
  readonly channel: Channel;
  readonly kind: RunKind;
  readonly state: RunState;
  readonly stateReason: RunReason | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  /** Since when its contacts and messages are erased. */
  readonly purgedAt: Date | null;
  /** Since when the records of its recipients are deleted; then only counts, requests with rows and costs are left. */
  readonly recordsDeletedAt: Date | null;
};

const columns = {
  run: 'run_id',
  campaign: 'campaign',
  account: 'account',
  channel: 'channel',
  kind: 'kind',
  state: 'state',
  stateReason: 'state_reason',
  createdAt: 'created_at',
  finishedAt: 'finished_at',
  purgedAt: 'purged_at',
  recordsDeletedAt: 'records_deleted_at',
} as const satisfies Record<keyof ListedRun, string>;

/** SQL: the columns of a `RunWithOutcome`. */
const listedRun = Object.entries({ ...columns, outcome: outcomeOfRun('runs.run_id') })
  .map(([name, column]) => `${column} AS "${name}"`)
  .join(', ');

export async function findRun(knex: Knex, run: string): Promise<Run | undefined> {
  const found: Stored<Run, 'stateReason'> | undefined = await knex('runs')
    .where({ run_id: run })
    .first({ ...columns, definition: 'definition' });
  return found && decoded(found);
}

export type RunFilter = {
  readonly campaign?: string | undefined;
  readonly account?: string | undefined;
  readonly channel?: Channel | undefined;
  readonly kind?: RunKind | undefined;
  readonly state?: RunState | undefined;
  readonly accounts?: readonly string[] | null;
  /** One of these. */
  readonly runs?: readonly string[] | undefined;
  /** Its id begins with this text, or the name of its campaign contains it. */
  readonly search?: string | undefined;
  readonly plannedFrom?: Date | undefined;
  readonly plannedBefore?: Date | undefined;
  readonly before?: Pick<Run, 'run' | 'createdAt'> | undefined;
};

/** Lists the newest first. */
export async function listRuns(knex: Knex, limit: number, filter: RunFilter = {}): Promise<RunWithOutcome[]> {
  const rows: Stored<RunWithOutcome, 'stateReason'>[] = await newestRuns(knex, limit, filter).select(
    knex.raw(listedRun),
  );
  return rows.map(decoded);
}

/** The same, without what came of each run. */
export async function listRunIds(knex: Knex, limit: number, filter: RunFilter): Promise<string[]> {
  return newestRuns(knex, limit, filter).pluck('run_id');
}

function newestRuns(knex: Knex, limit: number, filter: RunFilter) {
  const { before, accounts, runs, search, plannedFrom, plannedBefore, ...wanted } = filter;
  const equal = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  const newest = knex('runs')
    .where(equal)
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'run_id', order: 'desc' },
    ])
    .limit(limit);
  if (accounts) newest.whereIn('account', [...accounts]);
  if (runs) newest.whereIn('run_id', [...runs]);
  if (search) {
    const pattern = search.replace(/[\\%_]/g, '\\$&');
    newest.whereRaw('(run_id LIKE ? OR campaign ILIKE ?)', [`${pattern}%`, `%${pattern}%`]);
  }
  if (plannedFrom) newest.where('created_at', '>=', plannedFrom);
  if (plannedBefore) newest.where('created_at', '<', plannedBefore);
  if (before) newest.whereRaw('(created_at, run_id) < (?, ?)', [before.createdAt, before.run]);
  return newest;
}

/** Decodes the columns of a run that are stored in another form. */
function decoded<Row extends { readonly stateReason: unknown }>(
  row: Row,
): Omit<Row, 'stateReason'> & Pick<ListedRun, 'stateReason'> {
  return { ...row, stateReason: runReason(row.stateReason) };
}

/** @param accounts whose runs are looked for; null: of all */
export async function listLastRuns(
  pool: pg.Pool,
  campaigns: readonly string[],
  accounts: readonly string[] | null,
): Promise<RunWithOutcome[]> {
  const { rows } = await pool.query<Stored<RunWithOutcome, 'stateReason'>>(
    `
    SELECT last_run.*
    FROM unnest($1::text[]) AS wanted (campaign)
    CROSS JOIN LATERAL (
      SELECT ${listedRun}
      FROM runs
      WHERE runs.campaign = wanted.campaign AND ($2::text[] IS NULL OR account = ANY ($2))
      ORDER BY created_at DESC, run_id DESC
      LIMIT 1
    ) last_run
    `,
    [campaigns, accounts],
  );
  return rows.map(decoded);
}

/**
 * Runs whose id is the text or begins with it: the run with exactly this id first, then the newest. Compares bytes, as
 * `runs_by_prefix` does, because the order of a language can skip the dash.
 */
export async function listRunsBeginning(
  client: ReadConnection,
  text: string,
  limit: number,
): Promise<RunWithOutcome[]> {
  const { rows } = await client.query<Stored<RunWithOutcome, 'stateReason'>>(
    `
    SELECT ${listedRun}
    FROM runs
    WHERE run_id ~>=~ $1::text AND run_id ~<~ ($1::text || '~')
    ORDER BY (run_id = $1::text) DESC, created_at DESC, run_id DESC
    LIMIT $2
    `,
    [text, limit],
  );
  return rows.map(decoded);
}

/** What a list of runs shows of one, besides its progress. Money is exact decimals, as text. */
export type ListFigures = {
  /** Null in a ledger that was restored without its audit trail. */
  readonly plannedBy: string | null;
  readonly plannedHow: AuditInterface | null;
  readonly currency: string | null;
  /** As booked. Null: nothing is booked yet. */
  readonly cost: {
    /** Of delivery reports. */
    readonly price: string;
    /** Without tax. */
    readonly estimated: string;
  } | null;
};

const planned: AuditAction = 'run planned';

export async function readListFigures(
  client: Connection,
  runs: readonly string[],
): Promise<ReadonlyMap<string, ListFigures>> {
  const { rows } = await client.query<ListFigures & { readonly run: string }>(
    `
    SELECT r.run_id AS run, planned.actor AS "plannedBy", planned.via AS "plannedHow", r.rates ->> 'currency' AS currency,
           CASE WHEN c.run_id IS NOT NULL
                THEN json_build_object('price', c.price::text, 'estimated', c.estimated::text) END AS cost
    FROM runs r
    LEFT JOIN run_costs c ON c.run_id = r.run_id AND c.by = 'run'
    LEFT JOIN LATERAL (
      SELECT actor, via FROM audit a WHERE a.run_id = r.run_id AND a.action = $2 ORDER BY entry LIMIT 1
    ) planned ON true
    WHERE r.run_id = ANY ($1)
    `,
    [runs, planned],
  );
  return new Map(rows.map(({ run, ...figures }) => [run, figures]));
}

/** A run that can still send. */
export type UnfinishedRun = Pick<ListedRun, 'run' | 'account' | 'state' | 'stateReason' | 'createdAt'>;

/**
 * Lists the oldest first.
 *
 * @param campaign only its runs, without tests; also those that are sent, whose rest waits for a winner
 */
export async function listUnfinishedRuns(client: Connection, campaign?: string): Promise<UnfinishedRun[]> {
  const { rows } = await client.query<Stored<UnfinishedRun, 'stateReason'>>(
    `
    SELECT run_id AS run, account, state, state_reason AS "stateReason", created_at AS "createdAt"
    FROM runs
    WHERE CASE
            WHEN $1::text IS NULL THEN state IN ('planned', 'running', 'paused')
            ELSE campaign = $1 AND kind <> 'test'
              AND (state IN ('planned', 'running', 'paused') OR state = 'completed' AND ${hasOpenRest('runs.run_id')})
          END
    ORDER BY created_at, run_id
    `,
    [campaign ?? null],
  );
  return rows.map(decoded);
}
