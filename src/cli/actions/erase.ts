import { randomBytes } from 'node:crypto';
import {
  type Erasure,
  erasePerson,
  type LeftAlone,
  previewErasure,
} from '../../engine/recipient-data/erase-person.ts';
import { comparedAddressOf } from '../../engine/reporting/recipient-report.ts';
import { ensureHashKey } from '../../platform/hash-key.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

export type EraseOptions = {
  readonly country?: string;
  readonly reason: string;
  readonly dryRun?: true;
  readonly json?: true;
};

export async function eraseAction(
  shell: Shell,
  text: string,
  { country, reason, dryRun, json }: EraseOptions,
): Promise<void> {
  const address = comparedAddressOf(text, country);
  const erase = async (): Promise<Erasure> => {
    const { environment, workingFolder } = shell.settings;
    const { made } = ensureHashKey(environment, workingFolder, randomBytes);
    if (made) shell.note(`Made ${made}, the key of hashed suppressions. Keep a copy of this file.`);
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
}

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
