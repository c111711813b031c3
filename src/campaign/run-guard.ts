import { InputError } from '../domain/problems.ts';
import type { RunRates } from '../domain/rate-card.ts';
import type { YamlFile } from '../platform/yaml.ts';
import type { ReportedAccount } from './canary.ts';
import type { Definition } from './definition.ts';

/** What needs delivery reports. */
const reportedKeys = ['undelivered', 'silence', 'price'] as const;

/** What is valid in a guard and probably a mistake. Sentences without a full stop. */
export function guardWarnings(
  { guard: written, account }: Pick<Definition, 'guard' | 'account'>,
  { bringsReports }: ReportedAccount,
): { readonly path: readonly string[]; readonly what: string }[] {
  if (!written || bringsReports) return [];
  return reportedKeys.flatMap((key) => {
    if (written[key] === undefined) return [];
    const effect = key === 'silence' ? 'so it stops every run' : 'so it finds nothing';
    const what = `"guard.${key}": account "${account}" has neither a webhook nor a status look-up that brings delivery reports, ${effect}`;
    return [{ path: ['guard', key], what }];
  });
}

/** @throws InputError for prices that nothing can be compared with */
export function checkGuard({ value, locate }: YamlFile<Definition>, rates: RunRates | null): void {
  if (value.guard?.price === undefined || rates !== null) return;
  const what = `"guard.price": account "${value.account}" has no "rates" for ${value.channel}, so no price can be compared.`;
  throw new InputError([{ where: locate(['guard', 'price']), what }]);
}
