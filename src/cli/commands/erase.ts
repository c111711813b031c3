import type { Erasure, LeftAlone } from '../../engine/recipient-data/erase-person.ts';
import { argument, defineCommand, option } from '../command.ts';
import { countryOption, dryRunFlag, jsonFlag, keptAnyway } from '../options.ts';
import { withLedger, withLedgerToRead } from '../shell.ts';

export const command = defineCommand({
  description: `Erases one person from all runs that have ended, for good, and suppresses the address as a hash. Runs that go on are named and left alone. ${keptAnyway}`,
  arguments: [argument('<address>', 'a phone number or an e-mail address')],
  options: [
    countryOption,
    option('--reason <words>', 'why, for the audit trail; write no address', { required: true }),
    dryRunFlag,
    jsonFlag,
  ],
  exits: { 3: 'a run was left alone' },
  examples: [
    ["volley erase +61412345678 --reason 'asked on 3 November' --dry-run", 'see what would be erased'],
  ],
  run: async (shell, [text], { country, reason, dryRun, json }) => {
    const { erasePerson, previewErasure } = await import('../../engine/recipient-data/erase-person.ts');
    const { comparedAddressOf } = await import('../../engine/reporting/recipient-report.ts');
    const { makeHashKey } = await import('../open-context.ts');
    const address = comparedAddressOf(text, country);
    const erase = async (): Promise<Erasure> => {
      makeHashKey(shell);
      return withLedger(shell, (context) => erasePerson(context, address, reason));
    };
    const erasure = dryRun
      ? await withLedgerToRead(shell, (context) => previewErasure(context, address))
      : await erase();
    const leftAlone = erasure.leftAlone.map((each) => ({ ...each, why: holds[each.why] }));
    for (const { run, why } of leftAlone) shell.note(`Run ${run} still has the person: ${why}.`);
    for (const { run, name } of erasure.droppedFiles) {
      const kept = dryRun ? 'would not be kept any more' : 'is not kept any more';
      shell.note(
        `The workbook ${name} of run ${run} ${kept}, so \`volley report contacts\` cannot show its rows.`,
      );
    }
    shell.print(json ? JSON.stringify({ ...erasure, leftAlone }) : erasureText(erasure, dryRun));
    if (leftAlone.length > 0) shell.exitWith(3);
  },
});

const holds: Readonly<Record<LeftAlone['why'], string>> = {
  not_over: 'it has not ended; erase again after its end (`volley cancel` ends it)',
  unsettled: 'a request to the person may still be sent, or is in doubt (`volley resolve`)',
  in_use: 'another process uses it; try again',
};

function erasureText({ runs, recipients, contactRows, reports, leftAlone }: Erasure, dryRun?: true): string {
  const which =
    leftAlone.length === 0 ? '' : ` Runs left alone: ${leftAlone.map(({ run }) => run).join(', ')}.`;
  return [
    `${dryRun ? 'To be erased' : 'Erased'}: one person (runs: ${runs.length}, recipients: ${recipients}, rows of contact files: ${contactRows}, raw delivery reports: ${reports}).${which}`,
    'Kept, without the person, because bills and invoices need them: counts, prices, payers and MessageIDs.',
    `The address ${dryRun ? 'would be' : 'is'} suppressed for all accounts, as a hash, so that no later run sends to it.`,
  ].join('\n');
}
