import type { Command } from 'commander';
import { InputError } from '../../domain/problems.ts';
import { prepareCampaign } from '../../engine/plan/prepare-campaign.ts';
import type { Settings, StandardInput } from '../../engine/settings.ts';
import { addContactsOption } from '../options.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  addContactsOption(command)
    .description(
      'Checks a campaign with its account, contact file header, placeholders and files. Sends and writes nothing.',
    )
    .argument('<campaign>', 'the campaign file (YAML)')
    .option('--json', 'print the result as JSON')
    .action(async (path: string, { json, contacts }: { json?: true; contacts?: string[] }) => {
      const { campaign, account, close } = await prepareCampaign(path, settingsFor(shell), {
        contactFiles: contacts,
      });
      await close();
      const { campaign: name, channel } = campaign.value;
      shell.print(
        json
          ? JSON.stringify({ campaign: name, account: account.name, channel, ok: true })
          : `${path}: campaign ${name} is in order (${channel} through account ${account.name}).`,
      );
    });
}

function settingsFor({ settings }: Shell): Settings {
  const { environment, workingFolder } = settings;
  return {
    environment,
    workingFolder,
    get standardInput() {
      return impatient(settings.standardInput);
    },
  };
}

/** Milliseconds of silence after which nothing is expected of a pipe any more. */
export const patience = 5_000;

/**
 * Standard input that ends when nothing comes. A caller may leave a pipe open and write nothing: a command that needs only its
 * first bytes would wait without end.
 */
export function impatient(
  input: StandardInput | undefined,
  milliseconds = patience,
): StandardInput | undefined {
  if (!input || input.isTTY) return input;
  return readImpatiently(input, milliseconds);
}

async function* readImpatiently(
  input: StandardInput,
  milliseconds: number,
): AsyncGenerator<Buffer, void, undefined> {
  const chunks = input[Symbol.asyncIterator]();
  let silent = false;
  try {
    for (;;) {
      const { promise: silence, resolve } = Promise.withResolvers<undefined>();
      const timer = setTimeout(resolve, milliseconds, undefined);
      const chunk = await Promise.race([chunks.next(), silence]).finally(() => clearTimeout(timer));
      silent = chunk === undefined;
      if (chunk === undefined) throw new InputError([{ where: 'standard input', what: nothingCame }]);
      if (chunk.done) return;
      yield chunk.value;
    }
  } finally {
    // A stream that is waited for cannot be asked to return.
    if (silent) input.destroy?.();
    else await chunks.return?.();
  }
}

const nothingCame = `Nothing has come through it for ${patience / 1000} s. Pipe a file in, or name one with --contacts.`;
