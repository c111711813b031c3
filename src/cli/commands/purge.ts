import { InputError } from '../../domain/problems.ts';
import { formatDuration } from '../../domain/scalar-text.ts';
import type { Purge } from '../../engine/billing/purge.ts';
import type { DeletedRecords, Retention } from '../../engine/billing/retention.ts';
import type { StandardInput } from '../../engine/settings.ts';
import type { PurgeLimit } from '../../ledger/purge/candidates.ts';
import { count } from '../../platform/sentence.ts';
import { printable } from '../../report/printable.ts';
import { formatPurgeHold, formatRecordsHold } from '../../report/purge-hold.ts';
import { defineCommand, flag, option } from '../command.ts';
import { loadDurationReader } from '../option-readers.ts';
import { dryRunFlag, jsonFlag, keptAnyway } from '../options.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

export const command = defineCommand({
  description: `Erases addresses, messages and files of old runs, for good. ${keptAnyway}`,
  options: [
    option('--older-than <duration>', 'runs that ended longer ago, such as 400d', {
      loadReader: loadDurationReader,
      required: true,
    }),
    option(
      '--records-older-than <time>',
      'also delete records of runs that ended longer ago, were purged before, and are billed in closed months only, such as 3650d',
      { loadReader: loadDurationReader },
    ),
    option('--audit-older-than <time>', 'also delete older audit entries, such as 3650d', {
      loadReader: loadDurationReader,
    }),
    option(
      '--delivery-reports-older-than <time>',
      'also delete older raw delivery reports, of whole weeks and of kept runs too, such as 90d',
      { loadReader: loadDurationReader },
    ),
    flag('--also-in-doubt', 'also runs with requests in doubt, which can then not be sent again'),
    dryRunFlag,
    flag('--yes', 'ask nothing'),
    jsonFlag,
  ],
  examples: [['volley purge --older-than 400d --dry-run', 'see what a purge would erase']],
  run: async (
    shell,
    _,
    {
      olderThan,
      recordsOlderThan,
      auditOlderThan,
      deliveryReportsOlderThan,
      alsoInDoubt = false,
      dryRun,
      yes,
      json,
    },
  ) => {
    const { previewPurge, purge } = await import('../../engine/billing/purge.ts');
    const { applyRetention, previewRetention } = await import('../../engine/billing/retention.ts');
    const { makeHashKey } = await import('../open-context.ts');
    requireAge('--older-than', olderThan, { least: day, expected: 'a day or more, such as 400d' });
    requireAge('--older-than', olderThan, await countedByCaps(shell));
    requireAge('--delivery-reports-older-than', deliveryReportsOlderThan, {
      least: day,
      expected: 'a day or more, such as 90d',
    });
    requireAge('--records-older-than', recordsOlderThan, aYear);
    requireAge('--audit-older-than', auditOlderThan, aYear);
    const { standardInput } = shell.settings;
    const now = shell.now().getTime();
    const ago = (age?: number) => (age === undefined ? undefined : new Date(now - age));
    const limit: PurgeLimit = { before: new Date(now - olderThan), alsoInDoubt };
    const retention: Retention = {
      recordsBefore: ago(recordsOlderThan),
      auditBefore: ago(auditOlderThan),
      deliveryReportsBefore: ago(deliveryReportsOlderThan),
    };
    const print = (result: Purge, deleted: DeletedRecords): void => {
      printHeld(shell, result, deleted);
      const held = result.held.map((each) => ({ ...each, held: formatPurgeHold(each) }));
      const printed = { ...result, held, before: limit.before, deleted: { ...deleted, ...retention } };
      shell.print(json ? JSON.stringify(printed) : purgeText(result, deleted, dryRun));
    };
    const [expected, expectedDeletion] = await withLedgerToRead(shell, (context) =>
      Promise.all([previewPurge(context, limit), previewRetention(context, retention)]),
    );
    if (dryRun) {
      print(expected, expectedDeletion);
      return;
    }
    if (!yes) await confirmPurge(purgeText(expected, expectedDeletion, true), standardInput, shell.note);
    makeHashKey(shell);
    await withLedger(shell, async (context) => {
      // First: it deletes the records of runs that were purged before.
      const deleted = await applyRetention(context, retention);
      const purged = await purge(context, limit, ({ run, campaign, recipients }) =>
        shell.note(`Erasing run ${run} (${printable(campaign)}, ${count(recipients, 'recipient')})`),
      );
      print(purged, deleted);
    });
  },
});

const day = 86_400_000;

/** What `frequency` counts must stay. An accounts file that cannot be read says nothing. */
async function countedByCaps({ settings }: Shell): Promise<LeastAge> {
  const { createAccountsFileReader } = await import('../../engine/live/accounts-file.ts');
  const { caps } = await createAccountsFileReader(settings)();
  const periods = [...caps.values()].flatMap(({ frequency }) => frequency.map((each) => each.milliseconds));
  const least = Math.max(0, ...periods);
  const expected = `${formatDuration(least)} or more: "frequency" of the accounts file counts messages as old as that`;
  return { least, expected };
}

type LeastAge = { readonly least: number; readonly expected: string };

const aYear = { least: 366 * day, expected: '366d or more, such as 3650d' };

/**
 * A user who writes `400s` instead of `400d` would erase everything.
 *
 * @throws InputError
 */
function requireAge(where: string, age: number | undefined, { least, expected }: LeastAge): void {
  if (age !== undefined && age < least)
    throw new InputError([{ where, what: `Nothing was erased. Expected ${expected}.` }]);
}

const maxNamedRuns = 20;

function printHeld({ note }: Shell, { held }: Purge, deleted: DeletedRecords): void {
  for (const each of held.slice(0, maxNamedRuns)) note(`Run ${each.run} is kept: ${formatPurgeHold(each)}.`);
  if (held.length > maxNamedRuns) note(`${held.length} runs are kept, the first ${maxNamedRuns} shown.`);
  for (const each of deleted.held.slice(0, maxNamedRuns))
    note(`The records of run ${each.run} are kept: ${formatRecordsHold(each)}.`);
  if (deleted.held.length > maxNamedRuns)
    note(`The records of ${deleted.held.length} runs are kept, the first ${maxNamedRuns} shown.`);
  for (const each of deleted.heldReports)
    note(
      `${count(each.calls, 'raw delivery report')} of ${each.name} are kept: ${heldReportsWords[each.held ?? 'waiting']}.`,
    );
}

const heldReportsWords = {
  waiting: 'some of them wait to be applied or matched',
  in_use: 'another session reads the inbox; the next purge deletes them',
};

function purgeText(
  { runs, recipients, unreported, reports, suppressions }: Purge,
  deleted: DeletedRecords,
  dryRun?: true,
): string {
  const erased = dryRun ? 'To be erased' : 'Erased';
  const hashed = dryRun ? 'to be hashed' : 'hashed';
  return `${erased}: the contacts and messages of ${count(runs, 'run')} (${count(recipients, 'recipient')}), ${count(reports, 'raw delivery report')}; ${count(suppressions, 'suppression')} ${hashed}.${runs > 0 ? ` ${givenUp(unreported)}` : ''}${deletedText(deleted, dryRun)}`;
}

function deletedText({ runs, auditEntries, reports }: DeletedRecords, dryRun?: true): string {
  if (runs + auditEntries + reports === 0) return '';
  const what = dryRun ? 'To be deleted' : 'Deleted';
  const old = reports === 0 ? '' : `; ${count(reports, 'old raw delivery report')}`;
  return ` ${what}: the records of ${count(runs, 'purged run')}; audit entries: ${auditEntries}${old}.`;
}

/** What nothing brings back, and what a late delivery report still does. */
function givenUp(unreported: number): string {
  const few = unreported === 0 ? '' : ` (recipients without a final one so far: ${unreported})`;
  return `Given up for good: the addresses, the messages with their files, and the words of the service. Kept: what was sent, delivered and charged, for each payer. The price of a delivery report that comes later is still billed to its payer, without the recipient${few}.`;
}

const confirmation = 'purge';

/** @throws InputError without a terminal, or when the user types another word */
export async function confirmPurge(
  text: string,
  input: StandardInput | undefined,
  note: (text: string) => void,
): Promise<void> {
  if (!input?.isTTY) {
    const what =
      'Nothing was erased. A purge cannot be undone, and there is no terminal to confirm it. Add --yes to erase without confirmation.';
    throw new InputError([{ where: '--yes', what }]);
  }
  note(`${text}\nThis cannot be undone. Type "${confirmation}" to continue:`);
  let typed = '';
  for await (const chunk of input) {
    typed += chunk.toString('utf8');
    if (typed.includes('\n')) break;
  }
  input.destroy?.();
  if (typed.trim() === confirmation) return;
  throw new InputError([{ where: 'volley purge', what: 'Nothing was erased.' }]);
}
