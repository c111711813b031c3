import { resolve } from 'node:path';
import type { Person } from '../../domain/access.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import { hasEnded } from '../../domain/runs.ts';
import { type Approval, findApproval, recordApproval } from '../../ledger/approvals/approvals.ts';
import { listContactFiles } from '../../ledger/runs/contact-files.ts';
import { type Alongside, inTransaction } from '../../ledger/session.ts';
import { listTokenMakers } from '../../ledger/tokens/tokens.ts';
import { digestOfFile } from '../../platform/digest.ts';
import { hasCode } from '../../platform/file-error.ts';
import { unknownUser } from '../../platform/system-user.ts';
import { audited } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { requireRun } from '../runs/find-run.ts';

/** @throws InputError when the run does not wait for approval, the actor is a person who planned it, or a file has changed */
export async function approveRun(context: EngineContext, run: string, reason?: string): Promise<Approval> {
  const event = { action: 'run approved', run, ...(reason && { details: { reason } }) } as const;
  return audited(context, event, (addAuditEntry) => approve(context, run, addAuditEntry));
}

async function approve(context: EngineContext, run: string, addAuditEntry: Alongside): Promise<Approval> {
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
  if (same) refuse(run, samePersonTexts[same.kind](same.person.name, actor.name), same.person.name);
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

const another = 'Another person must approve it, with their own system user or API token.';
const otherToken = 'Approve it with a system user, or with a token that another person made.';

/** Why the approver and the planner count as one person, in words. */
const samePersonTexts = {
  'planned it': (name: string, approver: string) =>
    `It was planned by ${name}, and you are ${approver}. ${another}`,
  'put in its schedule': (name: string, approver: string) =>
    `Its schedule was put in by ${name}, and you are ${approver}. ${another}`,
  "made the planner's token": (name: string, approver: string) =>
    `It was planned with a token that ${name} made, and you are ${approver}. ${another}`,
  "planned it and made the approver's token": (name: string, approver: string) =>
    `It was planned by ${name}, who also made the token of ${approver}. ${otherToken}`,
  "put in its schedule and made the approver's token": (name: string, approver: string) =>
    `Its schedule was put in by ${name}, who also made the token of ${approver}. ${otherToken}`,
};

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
  const contactFiles = await listContactFiles(ledger.pool, run);
  // A list that a person brought is nowhere else, and its name may be that of another file.
  const files = [...campaignFiles, ...contactFiles.filter(({ columns }) => columns === null)];
  const problems: Problem[] = [];
  for (const { name, sha256 } of files) {
    const now = await digestOfFile(resolve(folder, name)).catch(undefinedIfMissing);
    if (now === undefined || now.equals(sha256)) continue;
    const what = `It has changed since run ${run} was planned. Check the file, cancel the run, and plan a new one.`;
    problems.push({ where: name, what });
  }
  return problems;
}

function undefinedIfMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error;
}

/** The persons behind a plan. */
type Planners = {
  /** A person, or a schedule. */
  readonly planner: Person;
  /** They put in the schedule. */
  readonly schedulers: readonly Person[];
  /** They made the token with which it was planned. */
  readonly makers: readonly Person[];
};

type Approver = {
  readonly person: Person;
  /** They made the approver's token. */
  readonly makers: readonly Person[];
};

/** Why an approver is no second person, and the first one. */
type SamePerson = { readonly kind: keyof typeof samePersonTexts; readonly person: Person };

/** A person does not approve what they planned, nor do they by a token that they made for another name. */
export function findSamePerson(
  { planner, schedulers, makers }: Planners,
  approver: Approver,
): SamePerson | undefined {
  const among = (persons: readonly Person[], others: readonly Person[], kind: SamePerson['kind']) => {
    const person = persons.find((one) => others.some((other) => isSamePerson(one, other)));
    return person && { kind, person };
  };
  const own = [approver.person];
  return (
    among([planner], own, 'planned it') ??
    among(schedulers, own, 'put in its schedule') ??
    among(makers, own, "made the planner's token") ??
    among([planner], approver.makers, "planned it and made the approver's token") ??
    among(schedulers, approver.makers, "put in its schedule and made the approver's token")
  );
}

/**
 * Whether two names mean one person, whatever their case, spaces and Unicode form. `ann@desk` of the command line is
 * also the token owner `ann`, `ann@other` of another machine, because each container has another name, and
 * `ann@shop.example` of a token or of the company's identity provider. A user that cannot be known may be any person.
 */
export function isSamePerson(one: Person, other: Person): boolean {
  if (isUnknown(one) || isUnknown(other)) return true;
  const [first, second] = [normalizeName(one.name), normalizeName(other.name)];
  if (first === second || userOf(first) === second || first === userOf(second)) return true;
  return (one.via === 'cli' || other.via === 'cli') && userOf(first) === userOf(second);
}

function isUnknown({ name, via }: Person): boolean {
  return via === 'cli' && userOf(name) === unknownUser;
}

function normalizeName(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

function userOf(name: string): string {
  return name.replace(/(?<=.)@[^@]*$/, '');
}
