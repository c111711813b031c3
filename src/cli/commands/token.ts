import { type Command, InvalidArgumentError, Option } from 'commander';
import { tokenNamePattern, tokenScopes } from '../../domain/access.ts';
import type { CreateOptions } from '../actions/token.ts';
import { lateOption } from '../late-options.ts';
import { parsePerson } from '../options.ts';
import type { Shell } from '../shell.ts';

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  command.description(
    'Creates, lists and revokes tokens of the API (volley serve). Scopes: read for lists, status and reports; run also to start, pause, resume and cancel; approve also to approve; admin also to resolve, and for tokens and the audit trail.',
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
      'the person behind the token; neither this person nor the one who makes the token approves what the other planned (default: user@host)',
      parsePerson,
    )
    .option(
      '--account <name...>',
      'only runs and campaigns of these accounts, without the audit trail and the list of tokens (default: all accounts)',
    )
    .addOption(
      (
        await lateOption(words, '--expires <time>', 'time until the token expires, or "never"', expiryReader)
      ).default(90 * 86_400_000, '90d'),
    )
    .option('--json', 'print the token as JSON')
    .action(async (options: CreateOptions) => {
      const { createAction } = await import('../actions/token.ts');
      await createAction(shell, options);
    });
  command
    .command('list')
    .description('Lists the names and properties of all tokens, also revoked ones.')
    .option('--json', 'print one JSON object a line')
    .action(async (options: { json?: true }) => {
      const { listAction } = await import('../actions/token.ts');
      await listAction(shell, options);
    });
  command
    .command('revoke')
    .description('Revokes a token from the next call on.')
    .argument('<name>', 'name of the token (volley token list)')
    .option('--json', 'print the result as JSON')
    .action(async (name: string, options: { json?: true }) => {
      const { revokeAction } = await import('../actions/token.ts');
      await revokeAction(shell, name, options);
    });
}

function parseName(text: string): string {
  if (tokenNamePattern.test(text)) return text;
  throw new InvalidArgumentError('expected at most 64 letters, digits, dots, hyphens and underscores.');
}

const expiryReader = async () => (await import('../scalar-options.ts')).parseExpiry;
