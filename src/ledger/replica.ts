import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { InputError } from '../domain/problems.ts';
import { type AsOf, type ReadFrom, ReplicaError, type ReplicaProblem } from '../domain/replica.ts';
import type { ReplicaSettings } from '../platform/database.ts';
import { isConnectionFailure } from '../platform/database-failures.ts';
import { codeOf } from '../platform/file-error.ts';
import { openReplicaPool } from './pools.ts';
import { inSnapshot, type ReadConnection, type Snapshot } from './session.ts';

/** A standby of the ledger's Postgres. Only `readReport` and `readReportInSnapshot` read it. */
export type Replica = Pick<ReplicaSettings, 'maxAge' | 'isRequired'> & { readonly pool: pg.Pool };

export function openReplica({ connection, maxAge, isRequired }: ReplicaSettings): Replica {
  return { pool: openReplicaPool(connection), maxAge, isRequired };
}

/** The ledger, for what only reads. */
type Readable = { readonly pool: pg.Pool; readonly replica: Replica | null };

/**
 * Reads from the replica, if there is one and it is fit, and else from the primary, or refuses, as the settings say.
 *
 * @param work is called again, for the primary, if the replica cancels a query, ends, or lacks what is asked for
 * (InputError). So what it writes must not leave before it ends.
 * @throws ReplicaError
 */
export function readReport<Result>(
  { pool, replica }: Readable,
  now: () => Date,
  work: (client: ReadConnection, asOf: AsOf) => Promise<Result>,
): Promise<Result> {
  return readFrom(pool, replica, now, work);
}

/** Like `readReport`, in one read-only snapshot. */
export function readReportInSnapshot<Result>(
  { pool, replica }: Readable,
  now: () => Date,
  work: (client: Snapshot, asOf: AsOf) => Promise<Result>,
): Promise<Result> {
  return readFrom(pool, replica, now, async (from, asOf) => {
    let done: { readonly result: Result } | undefined;
    try {
      return await inSnapshot(from, async (client) => {
        done = { result: await work(client, asOf) };
        return done.result;
      });
    } catch (error) {
      // The end of a read-only transaction can fail on a replica. The report is whole.
      if (done !== undefined && asOf.read?.from === 'replica') return done.result;
      throw error;
    }
  });
}

async function readFrom<Result>(
  primary: pg.Pool,
  replica: Replica | null,
  now: () => Date,
  work: (pool: pg.Pool, asOf: AsOf) => Promise<Result>,
): Promise<Result> {
  if (replica === null) return work(primary, { at: now() });
  const { isRequired } = replica;
  const found = await lookAtReplica(primary, replica, now);
  let because: ReplicaProblem;
  if ('kind' in found) because = found;
  else {
    try {
      return await work(replica.pool, found);
    } catch (error) {
      const problem = problemOf(error);
      if (problem === undefined || (isRequired && problem.kind === 'lacks it' && isCurrent(found)))
        throw error;
      because = problem;
    }
  }
  if (isRequired) throw new ReplicaError(because);
  return work(primary, { at: now(), read: { from: 'primary', because } });
}

/** The replica had all that the primary had, so what it does not know is not known. */
const isCurrent = ({ read }: AsOf): boolean => read?.from === 'replica' && read.secondsBehind === 0;

/** Postgres ends a query that holds up the replay of changes (40001), also as a deadlock with it. */
const cancelled = /^(40001|40P01)$/;

/** Why a report that had begun on the replica is read again from the primary; undefined: it is not. */
function problemOf(error: unknown): ReplicaProblem | undefined {
  const code = codeOf(error) ?? '';
  if (cancelled.test(code)) return { kind: 'cancelled' };
  if (error instanceof InputError) return { kind: 'lacks it' };
  return isConnectionFailure(error) ? { kind: 'away', code: code || null } : undefined;
}

/** Milliseconds between two looks, and how many: a healthy replica has a commit within some of them. */
const lookEvery = 50;
const looks = 20;
/** Milliseconds, for one answer of the replica. */
const answerTimeout = 2_000;

/**
 * Compares the replica with the primary, and waits up to a second until it has what the primary has now.
 *
 * @returns its age, or why it cannot be read
 */
export async function lookAtReplica(
  primary: ReadConnection,
  { pool, maxAge }: Pick<Replica, 'pool' | 'maxAge'>,
  now: () => Date,
): Promise<AsOf | ReplicaProblem> {
  try {
    const at = now();
    const standby = await readStandby(pool);
    if ('kind' in standby) return standby;
    // After the replica, which therefore cannot be ahead.
    const wanted = await readPrimary(primary, standby.lsn).catch((error: unknown) => {
      throw new PrimaryError('the primary was not read', { cause: error });
    });
    if (standby.ledger !== wanted.ledger) return { kind: 'another ledger' };
    if (wanted.isPassed) return { kind: 'ahead' };
    if (standby.migrations !== wanted.migrations) return { kind: 'another schema' };
    for (let look = 1; ; look++) {
      const { isCurrent, lastCommit } = await readReplay(pool, wanted.lsn);
      if (isCurrent) return { at, read: { from: 'replica', secondsBehind: 0 } };
      if (look < looks) await sleep(lookEvery);
      else return ageOf(wanted.at, lastCommit, maxAge);
    }
  } catch (error) {
    if (error instanceof PrimaryError) throw error.cause;
    return problemOf(error) ?? { kind: 'away', code: codeOf(error) ?? null };
  }
}

class PrimaryError extends Error {}

/** What the replica has replayed is as old as its last commit, at most. */
function ageOf(now: Date, lastCommit: Date | null, allowed: number): AsOf | ReplicaProblem {
  if (lastCommit === null) return { kind: 'behind', seconds: null, allowed };
  const secondsBehind = Math.max(1, Math.ceil((now.getTime() - lastCommit.getTime()) / 1_000));
  if (secondsBehind > allowed) return { kind: 'behind', seconds: secondsBehind, allowed };
  const read: ReadFrom = { from: 'replica', secondsBehind };
  return { at: lastCommit, read };
}

type Standby = {
  readonly ledger: string;
  /** How far it has replayed the WAL. */
  readonly lsn: string;
  readonly migrations: number;
};

const undefinedTable = '42P01';

async function readStandby(pool: pg.Pool): Promise<Standby | ReplicaProblem> {
  try {
    const [standby] = await ask<Standby & { readonly isStandby: boolean }>(
      pool,
      `SELECT pg_is_in_recovery() AS "isStandby", coalesce(pg_last_wal_replay_lsn(), '0/0')::text AS lsn, ledger,
              (SELECT count(*)::integer FROM knex_migrations) AS migrations
       FROM ledger_location`,
    );
    if (standby === undefined) return { kind: 'another ledger' };
    return standby.isStandby ? standby : { kind: 'no standby' };
  } catch (error) {
    if (codeOf(error) === undefinedTable) return { kind: 'another ledger' };
    throw error;
  }
}

type Primary = Standby & { readonly at: Date; readonly isPassed: boolean };

/** @param replayed by the replica. DATABASE_URL can name a standby too. */
async function readPrimary(client: ReadConnection, replayed: string): Promise<Primary> {
  const { rows } = await client.query<Primary>(
    `SELECT lsn::text AS lsn, clock_timestamp() AS at, ledger, $1::pg_lsn > lsn AS "isPassed",
            (SELECT count(*)::integer FROM knex_migrations) AS migrations
     FROM ledger_location, (
       SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END AS lsn
     ) wal`,
    [replayed],
  );
  const [primary] = rows;
  if (primary === undefined) throw new Error('the table ledger_location is empty');
  return primary;
}

type Replay = { readonly isCurrent: boolean; readonly lastCommit: Date | null };

async function readReplay(pool: pg.Pool, wanted: string): Promise<Replay> {
  const [replay] = await ask<Replay>(
    pool,
    `SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS "isCurrent", pg_last_xact_replay_timestamp() AS "lastCommit"`,
    [wanted],
  );
  return replay ?? { isCurrent: false, lastCommit: null };
}

async function ask<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  text: string,
  values: unknown[] = [],
): Promise<readonly Row[]> {
  const question = { text, values, query_timeout: answerTimeout };
  return (await pool.query<Row>(question)).rows;
}
