import type { Finding } from '../../domain/doctor.ts';
import { type ReplicaProblem, replicaProblemText } from '../../domain/replica.ts';
import { lookAtReplica, openReplica } from '../../ledger/replica.ts';
import { replicaSettings } from '../../platform/database.ts';
import type { Settings } from '../settings.ts';
import { ok, type Pool, type PoolProbe, problem, warning } from './check.ts';

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
