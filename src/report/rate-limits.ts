import type { RateLimits } from '../domain/rates.ts';
import type { Screen } from './screen.ts';
import { formatTable } from './table.ts';

type AccountRow = {
  readonly account: string;
  readonly file: RateLimits;
  readonly set: RateLimits;
  readonly inForce: RateLimits;
};

const titles = {
  requestsPerSecond: 'requests a second',
  recipientsPerSecond: 'recipients a second',
} as const;
const limits = ['requestsPerSecond', 'recipientsPerSecond'] as const;

export function rateLimitTable(accounts: readonly AccountRow[], screen?: Screen): string {
  const rows = accounts.flatMap(({ account, file, set, inForce }) =>
    limits.map((limit) => ({
      account,
      limit: titles[limit],
      file: file[limit] ?? 'none',
      set: set[limit] ?? '',
      inForce: inForce[limit] ?? 'none',
    })),
  );
  return formatTable(
    [
      { title: 'Account', value: ({ account }) => account },
      { title: 'Limit', value: ({ limit }) => limit },
      { title: 'File', value: ({ file }) => file, align: 'right' },
      { title: 'Set', value: ({ set }) => set, align: 'right' },
      { title: 'In force', value: ({ inForce }) => inForce, align: 'right' },
    ],
    rows,
    [],
    screen,
  );
}
