import { InputError, type Problem } from '../../domain/problems.ts';
import { type ListedRun, listRuns, listRunsBeginning, type RunFilter } from '../../ledger/runs/find.ts';
import type { EngineContext } from '../context.ts';

/** Names the newest run. No run id can be this word. */
export const latest = 'latest';

/** A run id begins with its day, so fewer characters name a year or a month. */
const minPrefix = 4;

/** Candidates that are printed for an ambiguous name. */
const maxCandidates = 10;

/**
 * The run that an operator names: by its id, by the beginning of one, or as `latest`. Only for the command line: a
 * program that calls the API knows the id, and a prefix that is unique today may be ambiguous tomorrow.
 *
 * @param filter of the runs that `latest` is the newest of
 * @returns undefined if no run begins so
 * @throws InputError if several runs do, or the prefix is short, or there is no newest run
 */
export async function findNamedRun(
  context: EngineContext,
  name: string,
  filter: RunsToName = {},
): Promise<ListedRun | undefined> {
  const found = await findRunIfAny(context, name, filter);
  if (found || name !== latest) return found;
  const { campaign } = filter;
  const what = campaign === undefined ? noRunsText : `There is no run of campaign "${campaign}" yet.`;
  throw new InputError([{ where: `run ${latest}`, what }]);
}

type RunsToName = Pick<RunFilter, 'campaign' | 'kind'>;

/** Like `findNamedRun`, in one of several ledgers: it need not have a newest run. */
export async function findRunIfAny(
  { ledger }: EngineContext,
  name: string,
  filter: RunsToName = {},
): Promise<ListedRun | undefined> {
  if (name === latest) return (await listRuns(ledger.knex, 1, filter))[0];
  const found = await listRunsBeginning(ledger.pool, name, maxCandidates + 1);
  const [first] = found;
  if (!first || first.run === name) return first;
  const where = `run ${name}`;
  if (name.length < minPrefix) {
    const what = `The beginning of a run id needs at least ${minPrefix} characters; \`volley runs\` lists the ids.`;
    throw new InputError([{ where, what }]);
  }
  if (found.length === 1) return first;
  const several = found.length > maxCandidates ? `More than ${maxCandidates}` : `${found.length}`;
  const what = `${several} runs begin so; use more characters of one of them.`;
  throw new InputError([{ where, what }, ...found.slice(0, maxCandidates).map(candidate)]);
}

function candidate({ run, campaign, state, createdAt }: ListedRun): Problem {
  return { where: `run ${run}`, what: `campaign ${campaign}, ${state}, planned ${createdAt.toISOString()}` };
}

export const noRunsText = 'There is no run yet. `volley run <campaign>` makes one.';

/** Crockford's base 32: no characters that sound or look alike. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** The day of planning (UTC) and a random suffix: `261121-7k2mq`. Short to type; the primary key keeps it unique. */
export function newRunId(now: Date, random: Uint8Array): string {
  const day = now.toISOString().slice(2, 10).replaceAll('-', '');
  const suffix = [...random].map((byte) => alphabet[byte % 32]).join('');
  return `${day}-${suffix}`;
}

/** Whether the text is the whole id of a run, known or not. */
export function isRunId(text: string): boolean {
  return /^\d{6}-[0-9a-z]{5}$/.test(text);
}
