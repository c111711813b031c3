import type { Token } from '../ledger/tokens/tokens.ts';
import type { Screen } from './screen.ts';
import { formatTable } from './table.ts';
import { formatTime, titleWithZone } from './time.ts';

export function tokenTable(tokens: readonly Token[], now: Date, screen?: Screen): string {
  const time = (at: Date | null, never: string): string => (at === null ? never : formatTime(screen, at));
  return formatTable(
    [
      { title: 'Name', value: ({ name }) => name },
      { title: 'Scope', value: ({ scope }) => scope },
      { title: 'Accounts', value: ({ accounts }) => accounts?.join(', ') ?? 'all' },
      { title: 'Owner', value: ({ owner }) => owner },
      { title: 'Made by', value: ({ madeBy }) => madeBy ?? '' },
      { title: 'State', value: (token) => stateOf(token, now, screen) },
      { title: titleWithZone(screen, 'Expires'), value: ({ expiresAt }) => time(expiresAt, 'never') },
      { title: titleWithZone(screen, 'Last used'), value: ({ lastUsedAt }) => time(lastUsedAt, 'never') },
    ],
    tokens,
    [],
    screen,
  );
}

function stateOf({ revokedAt, expiresAt }: Token, now: Date, screen?: Screen): string {
  if (revokedAt !== null) return `revoked ${formatTime(screen, revokedAt)}`;
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'valid';
}
