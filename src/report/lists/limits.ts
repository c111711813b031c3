import type { Caps } from '../../domain/caps.ts';
import type { RateLimits } from '../../domain/rate-limits.ts';
import { formatDuration } from '../../domain/scalar-text.ts';
import { columnsOf, decimalColumn, textColumn } from '../column.ts';
import { groupThousands } from '../html/figures.ts';
import { accountColumn } from './usual.ts';

/** Limits of an account: of its file, those that an operator set instead, and those in force. */
type Limits<Value> = { readonly account: string } & Readonly<Record<'file' | 'set' | 'inForce', Value>>;

type LimitLine = Limits<number | null> & { readonly limit: string };

const titles = {
  requestsPerSecond: 'requests a second',
  recipientsPerSecond: 'recipients a second',
} as const;

/** `20 requests`, `5 recipients`: what may be sent in a second; nothing without a limit. */
export function limitTexts({ requestsPerSecond, recipientsPerSecond }: RateLimits): string[] {
  return [
    requestsPerSecond === null ? [] : `${groupThousands(requestsPerSecond)} requests`,
    recipientsPerSecond === null ? [] : `${groupThousands(recipientsPerSecond)} recipients`,
  ].flat();
}

/** What an account may send over all campaigns, a sentence for each cap. */
export function capSentences({ frequency, recipientsPerDay }: Caps): string[] {
  const ofAddresses = frequency.map(({ of, most, milliseconds, over }) => {
    const from = of === 'account' ? 'this account' : 'all accounts';
    const messages = most === 1 ? '1 message' : `${most} messages`;
    return `An address gets at most ${messages} within ${formatDuration(milliseconds)} from ${from} (${over.join(', ')}).`;
  });
  if (recipientsPerDay === null) return ofAddresses;
  return [...ofAddresses, `At most ${groupThousands(recipientsPerDay)} recipients a day.`];
}

/** A line for each limit of an account. */
export function limitLines({ account, file, set, inForce }: Limits<RateLimits>): LimitLine[] {
  return (['requestsPerSecond', 'recipientsPerSecond'] as const).map((limit) => ({
    account,
    limit: titles[limit],
    file: file[limit],
    set: set[limit],
    inForce: inForce[limit],
  }));
}

/** Limits of accounts, as they are in the file, set and in force. */
export const limitColumns = columnsOf<LimitLine>()([
  accountColumn,
  textColumn('limit', 'Limit'),
  decimalColumn('file', 'File', { shown: ({ file }) => file ?? 'none' }),
  decimalColumn('set', 'Set'),
  decimalColumn('inForce', 'In force', {
    shown: ({ inForce }) => inForce ?? 'none',
  }),
]);
