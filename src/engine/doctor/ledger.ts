import { createMemoryClaimMarks } from '../../domain/claim-marks.ts';
import type { Finding } from '../../domain/doctor.ts';
import { InputError } from '../../domain/problems.ts';
import { formatReason } from '../../domain/reasons.ts';
import { type ReplicaProblem, replicaProblemText } from '../../domain/replica.ts';
import { listMissingRights, type MissingRight, type Role, readRole } from '../../ledger/operations/server.ts';
import { lookAtReplica, openReplica } from '../../ledger/replica.ts';
import { type QueueVersions, readQueueVersions } from '../../ledger/slices/queue.ts';
import { createHashKey, hasHashedSuppressions, requireHashKey } from '../../ledger/suppressions/hash.ts';
import { openClaimMarks } from '../../platform/claim-marks.ts';
import { replicaSettings } from '../../platform/database.ts';
import { readHashKey } from '../../platform/hash-key.ts';
import { findHome } from '../../platform/project.ts';
import { count } from '../../platform/sentence.ts';
import { findHold } from '../dispatch/ledger-location.ts';
import type { Settings } from '../settings.ts';
import { explainInput, ok, type Pool, type PoolProbe, problem, rightsPage, warning } from './check.ts';

/** Questions to a ledger of this version. */
export function ledgerProbes(settings: Settings): PoolProbe[] {
  return [
    { name: 'rights', ask: async (pool) => checkRights(await readRole(pool), await listMissingRights(pool)) },
    { name: 'queue', ask: async (pool) => checkQueue(await readQueueVersions(pool)) },
    { name: 'ledger', ask: (pool) => checkLedgerIdentity(pool, settings) },
    { name: 'hash key', ask: (pool) => checkHashKey(pool, settings) },
  ];
}

function checkRights({ name: role, isSuperuser }: Role, missing: readonly MissingRight[]): Finding {
  if (isSuperuser) return ok(`The role ${role} is a superuser. Volley needs less: ${rightsPage}.`);
  const [first, ...others] = missing;
  if (first === undefined) return ok(`The role ${role} has what Volley needs.`);
  const more = others.length > 0 ? `, and ${count(others.length, 'more right')}` : '';
  return problem(
    `The role ${role} lacks ${first.privilege} on ${first.kind} ${first.name}${more}.`,
    `As the owner of the tables, run the GRANT statements of ${rightsPage}.`,
  );
}

/** pg-boss migrates its own tables, if the role may. */
export function checkQueue({ installed, needed }: QueueVersions): Finding {
  if (installed !== null && installed >= needed) return ok('The tables of the queue are of this version.');
  const found =
    installed === null ? 'are missing' : `are of version ${installed}; this Volley needs ${needed}`;
  return problem(
    `The tables of the queue (pg-boss) ${found}.`,
    'Run `volley db migrate`, as the owner of the tables.',
  );
}

/** Whether this machine may claim from the ledger, or it was restored, copied or moved. */
async function checkLedgerIdentity(pool: Pool, { environment, workingFolder }: Settings): Promise<Finding> {
  const home = findHome(environment, workingFolder);
  const problems: string[] = [];
  const marks =
    home === undefined ? createMemoryClaimMarks() : openClaimMarks(home, (what) => problems.push(what));
  try {
    const { reason, here } = await findHold({ pool, marks });
    if (reason !== null)
      return problem(
        `${formatReason(reason)} Nothing is sent from it.`,
        'Read docs/how-to/backup.md, "After a restore", then run `volley db restored --since TIME --reason …`.',
      );
    const [unreadable] = problems;
    if (unreadable !== undefined)
      return warning(unreadable, 'Run `volley doctor` as the user that runs Volley.');
    return ok(
      here === null
        ? 'It is not on hold. The server hides its identity, so a copy on another server would not be noticed.'
        : 'It has every claim that this machine knows of, and is where it was.',
    );
  } finally {
    marks.close();
  }
}

async function checkHashKey(pool: Pool, { environment, workingFolder }: Settings): Promise<Finding> {
  const nextStep =
    'Set VOLLEY_HASH_KEY to the key of the machine that ran `volley purge` (its VOLLEY_HOME/hash-key), or restore that file from the backup.';
  try {
    const secret = readHashKey(environment, workingFolder);
    if (!(await hasHashedSuppressions(pool))) return ok('No suppression is hashed, so no key is needed.');
    await requireHashKey(pool, secret ? createHashKey(secret) : null);
    return ok('The key of the hashed suppressions is there.');
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { ...explainInput(error, nextStep), nextStep };
  }
}

/** None where no replica is set. */
export function replicaProbes({ environment }: Settings, now: () => Date): PoolProbe[] {
  if (!environment['DATABASE_READ_URL'] && !environment['VOLLEY_READ_REPLICA']) return [];
  return [{ name: 'replica', ask: (primary) => checkReplica(primary, environment, now) }];
}

async function checkReplica(
  primary: Pool,
  environment: Settings['environment'],
  now: () => Date,
): Promise<Finding> {
  const settings = replicaSettings(environment);
  if (settings === undefined)
    return warning(
      'VOLLEY_READ_REPLICA is set and DATABASE_READ_URL is not: reports read the primary.',
      nameStandby,
    );
  const { description, isRequired, maxAge } = settings;
  const replica = openReplica(settings);
  try {
    const found = await lookAtReplica(primary, replica, now);
    const otherwise = isRequired ? 'reports are refused' : 'reports read the primary';
    if ('kind' in found) {
      const what = `${description}: ${replicaProblemText(found)}, so ${otherwise}.`;
      return (isRequired ? problem : warning)(what, nextSteps[found.kind]);
    }
    const behind = found.read?.from === 'replica' ? found.read.secondsBehind : 0;
    return ok(`${description} is ${behind} s behind the primary; beyond ${maxAge} s, ${otherwise}.`);
  } finally {
    await replica.pool.end();
  }
}

const nameStandby = 'Name a standby of the Postgres of DATABASE_URL in DATABASE_READ_URL, or unset it.';

const nextSteps: Readonly<Record<ReplicaProblem['kind'], string>> = {
  away: 'Start Postgres there, or correct host, user and password in DATABASE_READ_URL.',
  behind:
    'See pg_stat_replication of the primary and the log of the standby, or allow more in VOLLEY_READ_REPLICA.',
  'no standby': nameStandby,
  'another ledger': nameStandby,
  ahead: nameStandby,
  'another schema': 'Wait until it has replayed the migration; see the log of the standby if it does not.',
  cancelled: 'Set hot_standby_feedback = on at the standby.',
  'lacks it': 'Wait until it has caught up.',
};
