import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { InputError, type Problem } from '../../domain/problems.ts';
import { hasEnded } from '../../domain/runs.ts';
import {
  type Approval,
  findApproval,
  listContactFileDigests,
  recordApproval,
} from '../../ledger/approvals/approvals.ts';
import { inTransaction } from '../../ledger/session.ts';
import { listTokenMakers } from '../../ledger/tokens/tokens.ts';
import { audited, type WriteAuditEntry } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { findSamePerson, type SamePerson } from '../persons.ts';
import { requireRun } from '../runs/find-run.ts';

/** @throws InputError when the run does not wait for approval, the actor is a person who planned it, or a file has changed */
export async function approveRun(context: EngineContext, run: string, reason?: string): Promise<Approval> {
  const event = { action: 'run approved', run, ...(reason && { details: { reason } }) } as const;
  return audited(context, event, (addAuditEntry) => approve(context, run, addAuditEntry));
}

async function approve(
  context: EngineContext,
  run: string,
  addAuditEntry: WriteAuditEntry,
): Promise<Approval> {
  const { pool } = context.ledger;
  const { actor } = context;
  const approval = await requireApprover(context, run);
  const problems = await findChangedFiles(context, approval);
  if (problems.length > 0) throw new InputError(problems);
  const now = context.now();
  const approved = await inTransaction(pool, async (client) => {
    const first = await recordApproval(client, run, actor.name, now);
    if (first) await addAuditEntry(client);
    return first;
  });
  if (!approved) refuse(run, noLongerWaits);
  return { ...approval, approvedBy: actor.name, approvedAt: now };
}

const noLongerWaits = 'It no longer waits for approval.';

/** @throws InputError when the run does not wait for approval, or the actor is a person who planned it */
export async function requireApprover(context: EngineContext, run: string): Promise<Approval> {
  const { ledger, actor } = context;
  const { state } = await requireRun(context, run);
  const approval = (await findApproval(ledger.pool, run)) ?? refuse(run, 'It needs no approval.');
  const { approvedBy } = approval;
  if (approvedBy !== null) refuse(run, `It was approved by ${approvedBy} already.`, approvedBy);
  if (hasEnded(state)) refuse(run, noLongerWaits);
  const same = await findSamePersonBehind(context, approval);
  if (same) refuse(run, samePersonText(same, actor.name), same.person.name);
  return approval;
}

async function findSamePersonBehind(
  { ledger: { pool }, actor }: EngineContext,
  { plannedBy, plannedHow, plannedToken, scheduledBy }: Approval,
): Promise<SamePerson | undefined> {
  const listMakers = async (token: string | null) => (token === null ? [] : listTokenMakers(pool, token));
  return findSamePerson(
    {
      planner: { name: plannedBy, via: plannedHow },
      schedulers: scheduledBy,
      makers: await listMakers(plannedToken),
    },
    { person: actor, makers: await listMakers(actor.token) },
  );
}

function samePersonText({ kind, person: { name } }: SamePerson, approver: string): string {
  switch (kind) {
    case 'planned it':
      return `It was planned by ${name}, and you are ${approver}. Another person must approve it, with their own system user or API token.`;
    case 'put in its schedule':
      return `Its schedule was put in by ${name}, and you are ${approver}. Another person must approve it, with their own system user or API token.`;
    case "made the planner's token":
      return `It was planned with a token that ${name} made, and you are ${approver}. Another person must approve it, with their own system user or API token.`;
    case "planned it and made the approver's token":
      return `It was planned by ${name}, who also made the token of ${approver}. Approve it with a system user, or with a token that another person made.`;
    case "put in its schedule and made the approver's token":
      return `Its schedule was put in by ${name}, who also made the token of ${approver}. Approve it with a system user, or with a token that another person made.`;
  }
}

function refuse(run: string, what: string, ...userNames: string[]): never {
  throw new InputError([{ where: `run ${run}`, what, userNames }]);
}

/** Ignores files that no longer exist: the run holds their content. */
async function findChangedFiles(
  { ledger }: EngineContext,
  { run, folder, campaignFile, campaignSha256 }: Approval,
): Promise<Problem[]> {
  if (folder === null) return [];
  const campaignFiles =
    campaignFile !== null && campaignSha256 !== null ? [{ name: campaignFile, sha256: campaignSha256 }] : [];
  const files = [...campaignFiles, ...(await listContactFileDigests(ledger.pool, run))];
  const problems: Problem[] = [];
  for (const { name, sha256 } of files) {
    const now = await digestOf(resolve(folder, name));
    if (now === undefined || now.equals(sha256)) continue;
    const what = `It has changed since run ${run} was planned. Check the file, cancel the run, and plan a new one.`;
    problems.push({ where: name, what });
  }
  return problems;
}

async function digestOf(path: string): Promise<Buffer | undefined> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return hash.digest();
}
