import type { Check, CheckState, Finding } from '../../domain/doctor.ts';
import type { NextStep } from '../../domain/next-step.ts';
import { InputError } from '../../domain/problems.ts';
import type { Inspection } from '../../ledger/pools.ts';
import { errorMessage, hasCode } from '../../platform/file-error.ts';
import { count } from '../../platform/sentence.ts';

type MakeFinding = (found: string, nextStep?: NextStep | null) => Finding;
const findingOf =
  (state: CheckState): MakeFinding =>
  (found, nextStep = null) => ({ state, found, nextStep });

export const ok: MakeFinding = findingOf('ok');
export const notChecked: MakeFinding = findingOf('not checked');
type MakeAdvice = (found: string, nextStep: NextStep) => Finding;
export const warning: MakeAdvice = findingOf('warning');
export const problem: MakeAdvice = findingOf('problem');

/** Whether it can be asked more. */
export function isUsable(found: Finding | undefined): boolean {
  return found !== undefined && found.state !== 'problem' && found.state !== 'not checked';
}

/** A question; it reads only. Each answers for itself: a failure does not stop the others. */
export type Probe<Asked = undefined> = {
  readonly name: string;
  readonly ask: (asked: Asked) => Finding | Promise<Finding>;
};

export type Pool = Inspection['pool'];

/** A question to the database. */
export type PoolProbe = Probe<Pool>;

/** The time that all checks share. */
export type Deadline = {
  readonly seconds: number;
  readonly signal: AbortSignal;
};

/** @param seconds from now */
export function startDeadline(seconds: number): Deadline {
  return { seconds, signal: AbortSignal.timeout(seconds * 1_000) };
}

/** Asks all at once, and answers in their order. Never rejects. */
export function askAll<Asked>(
  probes: readonly Probe<Asked>[],
  deadline: Deadline,
  asked: Asked,
): Promise<Check[]> {
  const late = notChecked(`No answer within ${deadline.seconds} seconds.`);
  return Promise.all(
    probes.map(async ({ name, ask }) => {
      const answer = Promise.resolve(asked).then(ask).catch(explainFailure);
      return { name, ...(await withinDeadline(answer, deadline, late)) };
    }),
  );
}

/** Resolves with `late` at the deadline. */
export function withinDeadline<Result, Late>(
  work: Promise<Result>,
  { signal }: Deadline,
  late: Late,
): Promise<Result | Late> {
  if (signal.aborted) return Promise.resolve(late);
  const { promise, resolve } = Promise.withResolvers<Late>();
  const onLate = (): void => resolve(late);
  signal.addEventListener('abort', onLate, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', onLate));
}

/** Where the rights are that the role needs. */
export const rightsPage = 'docs/how-to/deployment.md';

function explainFailure(error: unknown): Finding {
  if (error instanceof InputError) return explainInput(error, 'Correct it, and run `volley doctor` again.');
  if (error instanceof Error && hasCode(error, '42501'))
    return problem(
      `The role of DATABASE_URL lacks a right (${error.message}).`,
      `As the owner of the tables, run the GRANT statements of ${rightsPage}.`,
    );
  return notChecked(`The check failed: ${errorMessage(error)}.`);
}

/**
 * Its first problem. The first sentence says what is wrong, the others what to do.
 *
 * @param nextStep if the problem says nothing of it
 */
export function explainInput({ problems }: InputError, nextStep: string): Finding {
  const [first, ...others] = problems;
  if (first === undefined) return notChecked('The check failed.');
  const [, what = first.what, rest = ''] = /^(.+?\.)\s+(\S.*)$/s.exec(first.what) ?? [];
  const more = others.length === 0 ? '' : ` ${count(others.length, 'more problem')}.`;
  return problem(
    `${first.where}: ${what}${more}`.replaceAll('\n', ' '),
    rest === '' ? nextStep : rest.replaceAll('\n', ' '),
  );
}

/** "3 days", "5 hours", "20 minutes" or "40 seconds", rounded down. */
export function formatAge(milliseconds: number): string {
  const units = [
    [86_400_000, 'day'],
    [3_600_000, 'hour'],
    [60_000, 'minute'],
  ] as const;
  const unit = units.find(([size]) => milliseconds >= size) ?? ([1_000, 'second'] as const);
  return count(Math.floor(milliseconds / unit[0]), unit[1]);
}

/** "3.2 GB"; powers of 1,000. */
export function formatBytes(bytes: number): string {
  const [size, unit] = bytes >= 1e9 ? [1e9, 'GB'] : [1e6, 'MB'];
  return `${(bytes / size).toFixed(1)} ${unit}`;
}

const maxListed = 3;

/** The first names, and how many more. */
export function listFirst(names: readonly string[]): string {
  const more = names.length - maxListed;
  return more > 0
    ? `${names.slice(0, maxListed).join(', ')} and ${more.toLocaleString('en')} more`
    : names.join(', ');
}
