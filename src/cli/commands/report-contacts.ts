import { type Command, InvalidArgumentError, Option } from 'commander';
import { rejectionReasons } from '../../domain/contacts.ts';
import { encodings } from '../../platform/encodings.ts';
import { reportedStates } from '../../report/contact-sheet.ts';
import type { ContactsOptions } from '../actions/report-contacts.ts';
import { runArgument, wordsReader } from '../options.ts';
import { addReportOptions } from '../report-options.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  addReportOptions(command.command('contacts'), 'csv')
    .description(
      'Prints the result file: the rows of the contact files in their order, with state, reason, MessageID, units and price. With --rejected, prints the rejected contacts, so you can fix them and run `volley run <campaign> --contacts <file> --of <run>`.',
    )
    .argument('<run>', runArgument)
    .option('--rejected', 'only contacts that were rejected as invalid or suppressed')
    .addOption(
      new Option(
        '--reasons <reasons>',
        `only contacts that were rejected for these reasons (${rejectionReasons.join(',')}); the recipient of a duplicate is in the run`,
      ).argParser(wordsReader(rejectionReasons)),
    )
    .addOption(
      new Option('--state <state...>', 'only rows in these states')
        .choices(reportedStates)
        .conflicts(['rejected', 'reasons']),
    )
    .addOption(
      new Option(
        '--delimiter <delimiter>',
        'of the CSV: , ; | or tab (default: as in the contact file)',
      ).argParser(parseDelimiter),
    )
    .addOption(
      new Option('--encoding <encoding>', 'of the CSV (default: as in the contact file)').choices(encodings),
    )
    .action(async (name: string, options: ContactsOptions) => {
      const { contactsAction } = await import('../actions/report-contacts.ts');
      await contactsAction(shell, name, options);
    });
}

function parseDelimiter(text: string): string {
  if (text === 'tab' || text === '\\t') return '\t';
  if ([',', ';', '|', '\t'].includes(text)) return text;
  throw new InvalidArgumentError('expected , ; | or tab.');
}
