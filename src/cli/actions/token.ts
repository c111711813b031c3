import type { TokenScope } from '../../domain/access.ts';
import { createToken, revokeToken } from '../../engine/access/tokens.ts';
import { listTokens, type Token } from '../../ledger/tokens/tokens.ts';
import type { Screen } from '../../report/screen.ts';
import { formatTable } from '../../report/table.ts';
import { formatTime, titleWithZone } from '../../report/time.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

export type CreateOptions = {
  readonly name: string;
  readonly scope: TokenScope;
  readonly owner?: string;
  readonly account?: readonly string[];
  readonly expires: number | null;
  readonly json?: true;
};

export async function createAction(
  shell: Shell,
  { name, scope, owner: named, account, expires, json }: CreateOptions,
): Promise<void> {
  const accounts = account ?? null;
  const expiresAt = expires === null ? null : new Date(shell.now().getTime() + expires);
  const { token, owner } = await withLedger(shell, async (context) => {
    const owner = named ?? context.actor.name;
    return { owner, token: await createToken(context, { name, scope, owner, accounts, expiresAt }) };
  });
  if (json) shell.print(JSON.stringify({ token, name, owner, scope, accounts, expiresAt }));
  else {
    shell.print(token);
    shell.note('Store the token where only its owner can read it. It is not shown again.');
  }
}

export async function listAction(shell: Shell, { json }: { json?: true }): Promise<void> {
  const tokens = await withLedgerToRead(shell, ({ ledger }) => listTokens(ledger.pool));
  if (json) for (const token of tokens) shell.print(JSON.stringify(token));
  else
    shell.print(
      tokens.length === 0
        ? 'No tokens. `volley token create` creates one.'
        : tokenTable(tokens, shell.now(), shell.screen),
    );
}

export async function revokeAction(shell: Shell, name: string, { json }: { json?: true }): Promise<void> {
  await withLedger(shell, (context) => revokeToken(context, name));
  shell.print(json ? JSON.stringify({ revoked: name }) : `Token ${name} is revoked.`);
}

function tokenTable(tokens: readonly Token[], now: Date, screen?: Screen): string {
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
