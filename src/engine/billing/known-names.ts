import { InputError, type Problem } from '../../domain/problems.ts';
import {
  type AccountScope,
  findUnknownNames,
  listKnownNames,
  type NamedDimension,
  namedDimensions,
} from '../../ledger/billing/dimension-names.ts';
import { didYouMean } from '../../platform/suggestions.ts';
import type { EngineContext } from '../context.ts';

/** Filters of a report; null selects lines without a name. */
type RequestedNames = Readonly<Partial<Record<NamedDimension, readonly (string | null)[]>>>;

/**
 * An empty report of a misspelt name would read as "nothing to pay".
 *
 * @param accounts counts only their runs; null for all
 * @throws InputError for unknown names
 */
export async function requireKnownNames(
  { ledger }: EngineContext,
  requested: RequestedNames,
  accounts: AccountScope = null,
): Promise<void> {
  const problems: Problem[] = [];
  for (const dimension of namedDimensions) {
    const names = (requested[dimension] ?? []).filter((name) => name !== null);
    const missing = await findUnknownNames(ledger.knex, dimension, names, accounts);
    if (missing.length === 0) continue;
    const known = await listKnownNames(ledger.knex, dimension, accounts);
    for (const name of missing) {
      const what = `There is no run of this ${dimension}.${didYouMean(name, known)} ${listed(dimension, known)}`;
      problems.push({ where: `${dimension} ${name}`, what });
    }
  }
  if (problems.length > 0) throw new InputError(problems);
}

const maxListed = 10;

function listed(dimension: NamedDimension, known: readonly string[]): string {
  if (known.length === 0) return `The ledger has no ${dimension}.`;
  if (known.length > maxListed) return `\`volley billing report --by ${dimension}\` lists all.`;
  return `There ${known.length === 1 ? 'is' : 'are'} ${known.toSorted().join(', ')}.`;
}
