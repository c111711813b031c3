import type { Knex } from 'knex';
import type { Channel } from '../../domain/message.ts';
import type { RunReason } from '../../domain/reasons.ts';
import type { RunState } from '../../domain/runs.ts';

/** A run without its counts. */
export type Run = ListedRun & {
  /** As it was planned; `engine` wrote it and parses it. */
  readonly definition: unknown;
};

/** A run without its definition, which may have a megabyte. */
export type ListedRun = {
  readonly run: string;
  readonly campaign: string;
  readonly account: string;
  readonly channel: Channel;
  readonly state: RunState;
  readonly stateReason: RunReason | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  /** Since when nothing is known of its contacts and messages; null for a run that was not purged. */
  readonly purgedAt: Date | null;
};

type DbListedRunRow = {
  readonly run_id: string;
  readonly campaign: string;
  readonly account: string;
  readonly channel: Channel;
  readonly state: RunState;
  readonly state_reason: RunReason | null;
  readonly created_at: Date;
  readonly finished_at: Date | null;
  readonly purged_at: Date | null;
};

type DbRunRow = DbListedRunRow & { readonly definition: unknown };

const columns = [
  'run_id',
  'campaign',
  'account',
  'channel',
  'state',
  'state_reason',
  'created_at',
  'finished_at',
  'purged_at',
] as const;

export async function findRun(knex: Knex, run: string): Promise<Run | undefined> {
  const row: DbRunRow | undefined = await knex('runs')
    .where({ run_id: run })
    .first([...columns, 'definition']);
  return row && { ...fromRow(row), definition: row.definition };
}

export type RunFilter = {
  readonly campaign?: string | undefined;
  readonly account?: string | undefined;
  readonly channel?: Channel | undefined;
  readonly state?: RunState | undefined;
  /** Only those of these accounts; null for all. */
  readonly accounts?: readonly string[] | null;
  /** Only those planned before this one. */
  readonly before?: Pick<Run, 'run' | 'createdAt'> | undefined;
};

/** The newest runs first. */
export async function listRuns(knex: Knex, limit: number, filter: RunFilter = {}): Promise<ListedRun[]> {
  const { before, accounts, ...wanted } = filter;
  const equal = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  const newest = knex('runs')
    .select(columns)
    .where(equal)
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'run_id', order: 'desc' },
    ]);
  if (accounts) newest.whereIn('account', [...accounts]);
  if (before) newest.whereRaw('(created_at, run_id) < (?, ?)', [before.createdAt, before.run]);
  const rows: DbListedRunRow[] = await newest.limit(limit);
  return rows.map(fromRow);
}

function fromRow(row: DbListedRunRow): ListedRun {
  return {
    run: row.run_id,
    campaign: row.campaign,
    account: row.account,
    channel: row.channel,
    state: row.state,
    stateReason: row.state_reason,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    purgedAt: row.purged_at,
  };
}

/** How many runs were purged, and when the last one was; null where none was. */
export async function countPurgedRuns(
  knex: Knex,
): Promise<{ readonly runs: number; readonly last: Date | null }> {
  const row: { runs: number; last: Date | null } | undefined = await knex('runs')
    .whereNotNull('purged_at')
    .first(knex.raw('count(*)::integer AS runs'), knex.raw('max(purged_at) AS last'));
  return row ?? { runs: 0, last: null };
}
