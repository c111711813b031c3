import { InputError, type Problem } from '../../domain/problems.ts';
import { listNames, type NamedDimension, namedDimensions } from '../../ledger/billing/dimension-names.ts';
import { didYouMean } from '../../platform/suggestions.ts';
import type { EngineContext } from '../context.ts';

/** Filters of a report; null selects lines without a name. */
type RequestedNames = Readonly<Partial<Record<NamedDimension, readonly (string | null)[]>>>;

/** A name that the ledger does not have, and those of its dimension that it has. */
export type UnknownName = {
  readonly dimension: NamedDimension;
  readonly name: string;
  readonly known: readonly string[];
};

/**
 * An empty report of a misspelt name would read as "nothing to pay".
 *
 * @param accounts counts only their runs; null for all
 * @throws InputError for unknown names
 */
export async function requireKnownNames(
  context: EngineContext,
  requested: RequestedNames,
  accounts: readonly string[] | null = null,
): Promise<void> {
  refuseUnknown([await findUnknown(context, requested, accounts)]);
}

export async function findUnknown(
  { ledger: { pool } }: EngineContext,
  requested: RequestedNames,
  accounts: readonly string[] | null = null,
): Promise<readonly UnknownName[]> {
  const unknown: UnknownName[] = [];
  for (const dimension of namedDimensions) {
    const names = (requested[dimension] ?? []).filter((name) => name !== null);
    const found = await listNames(pool, dimension, accounts, names);
    const missing = names.filter((name) => !found.has(name));
    if (missing.length === 0) continue;
    const known = [...(await listNames(pool, dimension, accounts, null))];
    unknown.push(...missing.map((name) => ({ dimension, name, known })));
  }
  return unknown;
}

/** @param ledgers what each does not have @throws InputError for names that none has */
export function refuseUnknown(ledgers: readonly (readonly UnknownName[])[]): void {
  const [first = [], ...others] = ledgers;
  const problems = first.flatMap(({ dimension, name, known }): Problem[] => {
    const elsewhere = others.map((names) =>
      names.find((other) => other.dimension === dimension && other.name === name),
    );
    if (elsewhere.includes(undefined)) return [];
    const all = [...new Set([...known, ...elsewhere.flatMap((other) => other?.known ?? [])])];
    const what = `There is no run of this ${dimension}.${didYouMean(name, all)} ${listed(dimension, all)}`;
    return [{ where: `${dimension} ${name}`, what }];
  });
  if (problems.length > 0) throw new InputError(problems);
}

const maxListed = 10;

function listed(dimension: NamedDimension, known: readonly string[]): string {
  if (known.length === 0) return `The ledger has no ${dimension}.`;
  if (known.length > maxListed) return `\`volley billing report --by ${dimension}\` lists all.`;
  return `There ${known.length === 1 ? 'is' : 'are'} ${known.toSorted().join(', ')}.`;
}
