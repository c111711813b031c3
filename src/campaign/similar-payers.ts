import type { CostTotal } from '../domain/rate-card.ts';
import { count } from '../platform/sentence.ts';

const maxGroups = 5;

const fields = [
  ['SubAccount', 'subAccount'],
  ['ChargeCode', 'chargeCode'],
] as const;

/**
 * Values that differ only in case or spaces: the service bills them apart, and they usually mean one payer.
 *
 * @returns sentences without a full stop
 */
export function similarPayerWarnings(totals: readonly CostTotal[]): string[] {
  return fields.flatMap(([name, key]) => {
    const recipients = new Map<string, number>();
    for (const total of totals) {
      const value = total[key];
      if (value !== null) recipients.set(value, (recipients.get(value) ?? 0) + total.recipients);
    }
    const groups = [...Map.groupBy(recipients, ([value]) => comparedForm(value)).values()];
    return groups
      .filter(({ length }) => length > 1)
      .slice(0, maxGroups)
      .map((group) => {
        const each = group
          .toSorted(([, one], [, other]) => other - one)
          .map(([value, total]) => `"${value}" (${count(total, 'recipient')})`);
        return `${name} has values that differ only in case or spaces, and are billed apart: ${each.join(', ')}`;
      });
  });
}

function comparedForm(value: string): string {
  return value.normalize('NFKC').replaceAll(/\s+/g, '').toLowerCase();
}
