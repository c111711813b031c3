import { InputError, type Problem } from '../../domain/problems.ts';
import { formatReason, formatReasonOrNull } from '../../domain/reasons.ts';
import type { Resolution } from '../../domain/runs.ts';
import { listFailureGroups } from '../../ledger/counts/groups.ts';
import { findRequestsByMessageId } from '../../ledger/requests/by-message-id.ts';
import {
  type Doubt,
  findRequests,
  listDoubts,
  listDoubtsOfGroup,
} from '../../ledger/requests/list-failed.ts';
import { type ResolvedRequest, resolveRequests } from '../../ledger/requests/resolve.ts';
import { type Connection, inTransaction } from '../../ledger/session.ts';
import { auditEntry, audited } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { requireRun, requireUnpurgedRun } from './find-run.ts';

/**
 * `named`: numbers or MessageIDs; otherwise all in doubt. `answer`: those of them whose reason is this, or begins with
 * these words. `group`: those of this group, and no other (`FailureGroup.group`).
 */
export type NamedRequests = {
  readonly run: string;
  readonly named: readonly string[] | undefined;
  readonly answer?: string | undefined;
  readonly group?: string | undefined;
};

type OperatorDecision = {
  readonly resolution: Resolution;
  readonly by: string;
  readonly reason: string;
};

/** @throws InputError when the run is missing, a named request is not in it or not in doubt, or none has the answer */
export async function listNamedDoubts(
  context: EngineContext,
  requests: NamedRequests,
): Promise<AsyncIterable<readonly Doubt[]>> {
  const { pool } = context.ledger;
  await requireRun(context, requests.run);
  return listDoubts(pool, requests.run, await findNamed(pool, requests));
}

async function findNamed(
  client: Connection,
  { run, named, answer, group }: NamedRequests,
): Promise<readonly number[] | 'all'> {
  if (named) return requireDoubts(client, run, named);
  if (group !== undefined) return listDoubtsOfGroup(client, run, group);
  return answer === undefined ? 'all' : requireAnswered(client, run, answer);
}

const maxListedGroups = 5;

async function requireAnswered(client: Connection, run: string, answer: string): Promise<number[]> {
  const chosen: number[] = [];
  for await (const page of listDoubts(client, run, 'all'))
    for (const { request, reason } of page)
      if (beginsWith(formatReasonOrNull(reason) ?? '', answer.trim())) chosen.push(request);
  if (chosen.length > 0) return chosen;
  const groups = await listFailureGroups(client, run, { states: ['in_doubt'], limit: maxListedGroups });
  const known = groups
    .map(({ requests, reason }) => `${requests} with "${formatReasonOrNull(reason) ?? ''}"`)
    .join(', ');
  const what = `No request of run ${run} is in doubt with this answer. ${known === '' ? 'None is in doubt.' : `In doubt: ${known}.`}`;
  throw new InputError([{ where: '--answer', what }]);
}

/** Whole words: "HTTP 40" is not the beginning of "HTTP 404, text/html". */
function beginsWith(reason: string, answer: string): boolean {
  if (answer === '' || !reason.toLowerCase().startsWith(answer.toLowerCase())) return false;
  return !/^\w/.test(reason.slice(answer.length));
}

/**
 * Settles all of the requests, or none.
 *
 * @throws InputError when the run is missing, a named request is not in it or not in doubt, or the run is cancelled
 *   and requests are to be resent
 */
export async function resolveDoubts(
  context: EngineContext,
  chosen: NamedRequests,
  decision: OperatorDecision,
): Promise<ResolvedRequest[]> {
  const { run: runId, named } = chosen;
  const { resolution, by, reason } = decision;
  const entry = { action: 'requests resolved', run: runId, details: { resolution, by, reason } } as const;
  return audited(context, entry, async () => {
    await requireRun(context, runId);
    return inTransaction(context.ledger.pool, async (client) => {
      const requests = await findNamed(client, chosen);
      const resolved = await resolveRequests(client, {
        run: runId,
        requests,
        ...decision,
        now: context.now(),
      });
      // The run is locked, so it cannot be cancelled before the commit.
      if (decision.resolution === 'resend') await requireNotOver(context, runId);
      // Another operator settled some of them: report their states, write nothing.
      if (named && resolved.length < requests.length) await requireDoubts(client, runId, named);
      const details = { ...entry.details, requests: resolved.length };
      await auditEntry(context, { ...entry, details })(client);
      return resolved;
    });
  });
}

async function requireNotOver(context: EngineContext, runId: string): Promise<void> {
  const { state } = await requireUnpurgedRun(context, runId);
  if (state !== 'cancelled') return;
  const what = `The run is ${state}, so its requests cannot be sent again. \`volley rerun ${runId} --state unknown\` plans a run for its unknown recipients.`;
  throw new InputError([{ where: `run ${runId}`, what }]);
}

/** @throws InputError for each that is not in the run, or not in doubt */
async function requireDoubts(client: Connection, run: string, named: readonly string[]): Promise<number[]> {
  const byMessageId = await findRequestsByMessageId(client, named);
  const numberOf = (name: string): number | undefined => {
    if (/^\d{1,9}$/.test(name)) return Number(name);
    const request = byMessageId.get(name);
    return request?.run === run ? request.request : undefined;
  };
  const found = await findRequests(
    client,
    run,
    named.flatMap((name) => numberOf(name) ?? []),
  );
  const problems: Problem[] = [];
  const requests = new Set<number>();
  for (const name of named) {
    const match = found.find(({ request }) => request === numberOf(name));
    const where = `request ${name}`;
    if (!match) {
      const what = `Run ${run} has no such request; \`volley resolve ${run}\` lists those in doubt.`;
      problems.push({ where, what });
    } else if (match.state !== 'in_doubt') {
      const because = match.reason === null ? '' : ` (${formatReason(match.reason)})`;
      const what = `It is ${match.state}${because}; only a request that is in doubt can be resolved.`;
      problems.push({ where, what });
    } else {
      requests.add(match.request);
    }
  }
  if (problems.length > 0) throw new InputError(problems);
  return [...requests];
}
