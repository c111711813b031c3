import { InputError } from '../domain/problems.ts';
import type { RunRates } from '../domain/rate-card.ts';
import type { YamlFile } from '../platform/yaml.ts';
import { isHeldByService, type ReportedAccount } from './canary.ts';
import type { Definition } from './definition.ts';

/** What needs delivery reports. */
const reportedKeys = ['undelivered', 'silence', 'price'] as const;

const ofHeld = {
  path: ['guard', 'silence'],
  what: '"guard.silence": the service sends at the SendTime of a request, so the run pauses unless reports come soon after its acceptance',
} as const;

/** What is valid in a guard and probably a mistake. Sentences without a full stop. */
export function guardWarnings(
  definition: Pick<Definition, 'guard' | 'account' | 'window' | 'message'>,
  { bringsReports }: ReportedAccount,
): { readonly path: readonly string[]; readonly what: string }[] {
  const { guard: written, account } = definition;
  if (!written) return [];
  if (bringsReports) return written.silence !== undefined && isHeldByService(definition) ? [ofHeld] : [];
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
