import { InvalidArgumentError } from 'commander';
import { tokenNamePattern, tokenScopes } from '../../domain/access.ts';
import { InputError } from '../../domain/problems.ts';
import { argument, defineCommand, defineGroup, flag, option } from '../command.ts';
import { loadExpiryReader, parsePerson } from '../option-readers.ts';
import { jsonFlag } from '../options.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

const create = defineCommand({
  description: 'Creates a token, and prints it or a link to it once.',
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
    flag('--link', 'print a link with which its owner gets it in the dashboard, once and within 24 hours'),
    jsonFlag,
  ],
  examples: [
    ['volley token create --name billing --scope read --owner ann', 'make a token that can only read'],
    ['volley token create --name jane --scope run --owner Jane --link', 'let Jane get her token by a link'],
  ],
  run: async (shell, _, { name, scope, owner: named, account, expires, link, json }) => {
    const { createToken } = await import('../../engine/access/tokens.ts');
    const { createTokenLink } = await import('../../engine/access/tokens.ts');
    const { tokenLinkPath } = await import('../../dashboard/paths.ts');
    const accounts = account ?? null;
    const expiresAt = expires === 'never' ? null : new Date(shell.now().getTime() + expires);
    const address = link ? await requireDashboardUrl(shell) : undefined;
    const { text, ...created } = await withLedger(shell, async (context) => {
      const request = { name, owner: named ?? context.actor.name, scope, accounts, expiresAt };
      if (address === undefined) return { ...request, text: await createToken(context, request) };
      const { secret } = await createTokenLink(context, request);
      return { ...request, text: address + tokenLinkPath(secret) };
    });
    if (json) {
      shell.print(JSON.stringify({ [link ? 'link' : 'token']: text, ...created }));
      return;
    }
    shell.print(text);
    shell.note(
      link
        ? `Send the link to ${created.owner}. It works once, within 24 hours. It is not shown again.`
        : 'Store the token where only its owner can read it. It is not shown again.',
    );
  },
});

/** @throws InputError when people have no address at which they could open a link */
async function requireDashboardUrl(shell: Shell): Promise<string> {
  const { readUrl } = await import('../serving/open-api.ts');
  const where = 'VOLLEY_DASHBOARD_URL';
  const what = 'It is not set. A link needs the address at which its owner opens the dashboard.';
  const address = readUrl(shell, where);
  if (address === undefined) throw new InputError([{ where, what }]);
  return address;
}

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
