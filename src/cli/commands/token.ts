import { InvalidArgumentError } from 'commander';
import { tokenNamePattern, tokenScopes } from '../../domain/access.ts';
import { argument, defineCommand, defineGroup, option } from '../command.ts';
import { loadExpiryReader, parsePerson } from '../option-readers.ts';
import { jsonFlag } from '../options.ts';
import { withLedger, withLedgerToRead } from '../shell.ts';

const create = defineCommand({
  description: 'Creates a token and prints it once.',
  options: [
    option('--name <name>', 'its name in lists and the audit trail; cannot be used again', {
      read: parseName,
      required: true,
    }),
    option('--scope <scope>', 'what the token allows', { choices: tokenScopes, required: true }),
    option('--owner <person>', 'the person behind it (default: user@host)', { read: parsePerson }),
    option('--account <name...>', 'only runs and campaigns of these accounts (default: all)'),
    option('--expires <duration>', 'time until the token expires, or "never"', {
      loadReader: loadExpiryReader,
      default: 90 * 86_400_000,
      defaultText: '90d',
    }),
    jsonFlag,
  ],
  examples: [
    ['volley token create --name billing --scope read --owner ann', 'make a token that can only read'],
  ],
  run: async (shell, _, { name, scope, owner: named, account, expires, json }) => {
    const { createToken } = await import('../../engine/access/tokens.ts');
    const accounts = account ?? null;
    const expiresAt = expires === null ? null : new Date(shell.now().getTime() + expires);
    const { token, owner } = await withLedger(shell, async (context) => {
      const owner = named ?? context.actor.name;
      return { owner, token: await createToken(context, { name, scope, owner, accounts, expiresAt }) };
    });
    if (json) {
      shell.print(JSON.stringify({ token, name, owner, scope, accounts, expiresAt }));
      return;
    }
    shell.print(token);
    shell.note('Store the token where only its owner can read it. It is not shown again.');
  },
});

const list = defineCommand({
  description: 'Lists all tokens, also revoked ones.',
  options: [jsonFlag],
  examples: [['volley token list', 'list the tokens']],
  run: async (shell, _, { json }) => {
    const { listTokens } = await import('../../ledger/tokens/tokens.ts');
    const { tokenColumns } = await import('../../report/lists/tokens.ts');
    const { printRows } = await import('../output/print-list.ts');
    const tokens = await withLedgerToRead(shell, ({ ledger }) => listTokens(ledger.pool));
    const none = 'No tokens. `volley token create` creates one.';
    printRows(shell, json, { columns: tokenColumns(shell.now()), none }, tokens);
  },
});

const revoke = defineCommand({
  description: 'Revokes a token from the next call on.',
  arguments: [argument('<name>', 'name of the token (volley token list)')],
  options: [jsonFlag],
  examples: [['volley token revoke billing', 'end a token at once']],
  run: async (shell, [name], { json }) => {
    const { revokeToken } = await import('../../engine/access/tokens.ts');
    await withLedger(shell, (context) => revokeToken(context, name));
    shell.print(json ? JSON.stringify({ revoked: name }) : `Token ${name} is revoked.`);
  },
});

export const command = defineGroup(
  'Creates, lists and revokes tokens. Scopes: read; run also starts and stops runs; approve also approves; admin does everything.',
  { create, list, revoke },
);

function parseName(text: string): string {
  if (tokenNamePattern.test(text)) return text;
  throw new InvalidArgumentError('expected at most 64 letters, digits, dots, hyphens and underscores.');
}
