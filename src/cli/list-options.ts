import { type Command, Option } from 'commander';
import { parseWholeNumber } from './options.ts';

/** Options of lists with up to millions of rows. */
export type ListOutput = { readonly limit?: number; readonly json?: true; readonly csv?: true };

export function addListOptions(command: Command): Command {
  return command
    .option(
      '--limit <number>',
      'list so many at most (default: 100, or all with --json or --csv)',
      parseWholeNumber,
    )
    .option('--json', 'print one JSON object a line')
    .addOption(
      new Option('--csv', 'print as CSV, with no text that a spreadsheet computes').conflicts('json'),
    );
}
