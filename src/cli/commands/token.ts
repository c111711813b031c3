import { type Command, InvalidArgumentError, Option } from 'commander';
import { type TokenScope, tokenScopes } from '../../domain/access.ts';
import { createToken, revokeToken } from '../../engine/access/tokens.ts';
import { listTokens, type Token } from '../../ledger/tokens/tokens.ts';
import { duration, expectedDuration } from '../../platform/scalars.ts';
import type { Screen } from '../../report/screen.ts';
import { formatTable } from '../../report/table.ts';
import { formatTime, titleWithZone } from '../../report/time.ts';
import { parsePerson } from '../options.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

type CreateOptions = {
  readonly name: string;
  readonly scope: TokenScope;
  readonly owner?: string;
  readonly account?: readonly string[];
  readonly expires: number | null;
  readonly json?: true;
};

export function define(command: Command, shell: Shell): void {
  command.description(
    'Creates, lists and revokes tokens of the API (volley serve). Scopes: read for lists, status and reports; run also to start, pause, resume and cancel; admin also to approve and resolve, and for the audit trail.',
  );
  command
    .command('create')
    .description('Creates a token and prints it once; Volley stores only its SHA-256.')
    .requiredOption(
      '--name <name>',
      'name of the token in lists and the audit trail; a name cannot be used again',
      parseName,
    )
    .addOption(
      new Option('--scope <scope>', 'what the token allows').choices(tokenScopes).makeOptionMandatory(),
    )
    .option(
      '--owner <person>',
      'the person behind the token, who cannot approve runs of the same person (default: user@host)',
      parsePerson,
    )
    .option(
      '--account <name...>',
      'only runs and campaigns of these accounts, without the audit trail and the list of tokens (default: all accounts)',
    )
    .addOption(
      new Option('--expires <time>', 'time until the token expires, or "never"')
        .default(90 * 86_400_000, '90d')
        .argParser(parseExpiry),
    )
    .option('--json', 'print the token as JSON')
    .action(async ({ name, scope, owner: named, account, expires, json }: CreateOptions) => {
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
    });
  command
    .command('list')
    .description('Lists the names and properties of all tokens, also revoked ones.')
    .option('--json', 'print one JSON object a line')
    .action(async ({ json }: { json?: true }) => {
      const tokens = await withLedgerToRead(shell, ({ ledger }) => listTokens(ledger.pool));
      if (json) for (const token of tokens) shell.print(JSON.stringify(token));
      else
        shell.print(
          tokens.length === 0
            ? 'No tokens. `volley token create` creates one.'
            : tokenTable(tokens, shell.now(), shell.screen),
        );
    });
  command
    .command('revoke')
    .description('Revokes a token from the next call on.')
    .argument('<name>', 'name of the token (volley token list)')
    .option('--json', 'print the result as JSON')
    .action(async (name: string, { json }: { json?: true }) => {
      await withLedger(shell, (context) => revokeToken(context, name));
      shell.print(json ? JSON.stringify({ revoked: name }) : `Token ${name} is revoked.`);
    });
}

function tokenTable(tokens: readonly Token[], now: Date, screen?: Screen): string {
  const time = (at: Date | null, never: string): string => (at === null ? never : formatTime(screen, at));
  return formatTable(
    [
      { title: 'Name', value: ({ name }) => name },
      { title: 'Scope', value: ({ scope }) => scope },
      { title: 'Accounts', value: ({ accounts }) => accounts?.join(', ') ?? 'all' },
      { title: 'Owner', value: ({ owner }) => owner },
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

function parseName(text: string): string {
  if (/^[\w.-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError('expected at most 64 letters, digits, dots, hyphens and underscores.');
}

function parseExpiry(text: string): number | null {
  if (text === 'never') return null;
  const read = duration.safeParse(text);
  if (read.success && read.data > 0) return read.data;
  throw new InvalidArgumentError(`${expectedDuration} and above 0, or "never".`);
}
