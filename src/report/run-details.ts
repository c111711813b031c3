import type { RejectedContact, RunSummary } from '../domain.ts';
import type {
  Cancellation,
  Conflicts,
  DeliveryResult,
  Failure,
  ResolutionGroup,
} from '../ledger/runs/details.ts';
import { printable } from './printable.ts';
import { runSummaryText } from './run-summary.ts';
import { type Column, table } from './table.ts';
import { toSeconds } from './time.ts';

/** The whole story of a run, for `volley report run`. */
export type RunDetails = {
  readonly summary: RunSummary;
  readonly stateReason: string | null;
  readonly failures: readonly Failure[];
  readonly resolutions: readonly ResolutionGroup[];
  readonly deliveryResults: readonly DeliveryResult[];
  readonly conflicts: Conflicts;
  readonly cancellations: readonly Cancellation[];
  /** The first of them, in the order of the file. */
  readonly rejectedContacts: readonly RejectedContact[];
};

export function runDetailsText(details: RunDetails): string {
  const {
    summary,
    stateReason,
    failures,
    resolutions,
    deliveryResults,
    conflicts,
    cancellations,
    rejectedContacts,
  } = details;
  const parts = [runSummaryText(summary)];
  if (stateReason) parts.push(`  because     ${printable(stateReason)}`);
  if (deliveryResults.length > 0) parts.push('', 'Delivery results', deliveryTable(deliveryResults));
  if (conflicts.reports > 0) parts.push('', conflictText(summary.run, conflicts));
  if (failures.length > 0) parts.push('', 'Requests that were not accepted', failureTable(failures));
  if (resolutions.length > 0)
    parts.push('', 'Requests in doubt that were resolved', resolutionTable(resolutions));
  if (cancellations.length > 0)
    parts.push('', 'Recipients cancelled since the run was planned', cancellationTable(cancellations));
  if (rejectedContacts.length > 0) {
    const all = summary.contacts.invalid + summary.contacts.duplicate + summary.contacts.suppressed;
    parts.push(
      '',
      `Contacts left out (${rejectedContacts.length} of ${all} shown)`,
      rejectedTable(rejectedContacts),
    );
  }
  return parts.join('\n');
}

/** The file is only named where there are several. */
export function rejectedTable(contacts: readonly RejectedContact[]): string {
  const severalFiles = new Set(contacts.map(({ file }) => file)).size > 1;
  const fileColumn: Column<RejectedContact> = { title: 'File', value: ({ file }) => file };
  return table(
    [
      ...(severalFiles ? [fileColumn] : []),
      { title: 'Line', value: ({ line }) => line, align: 'right' },
      { title: 'Column', value: ({ column }) => column },
      { title: 'Reason', value: ({ reason }) => reason },
      { title: 'Detail', value: ({ detail }) => detail },
    ],
    contacts,
  );
}

function failureTable(failures: readonly Failure[]): string {
  return table(
    [
      { title: 'State', value: ({ state }) => state },
      { title: 'Words', value: ({ reason }) => reason ?? '' },
      { title: 'Requests', value: ({ requests }) => requests, align: 'right' },
      { title: 'Recipients', value: ({ recipients }) => recipients, align: 'right' },
    ],
    failures,
  );
}

function resolutionTable(resolutions: readonly ResolutionGroup[]): string {
  return table(
    [
      { title: 'Resolution', value: ({ resolution }) => resolution },
      { title: 'Reason', value: ({ reason }) => reason },
      { title: 'By', value: ({ by }) => by },
      { title: 'Last (UTC)', value: ({ at }) => toSeconds(at) },
      { title: 'Requests', value: ({ requests }) => requests, align: 'right' },
    ],
    resolutions,
  );
}

function deliveryTable(results: readonly DeliveryResult[]): string {
  return table(
    [
      { title: 'Outcome', value: ({ outcome }) => outcome },
      { title: 'Result', value: ({ result }) => result ?? '' },
      { title: 'Recipients', value: ({ recipients }) => recipients, align: 'right' },
    ],
    results,
  );
}

function conflictText(run: string, { reports, recipients }: Conflicts): string {
  const which = `${reports} conflicting report${reports === 1 ? '' : 's'} of ${recipients} recipient${recipients === 1 ? '' : 's'}`;
  return `${which}, kept and not counted: another final outcome than the first one.
\`volley reports list --run ${run} --state conflicting\` lists them.`;
}

function cancellationTable(cancellations: readonly Cancellation[]): string {
  return table(
    [
      { title: 'Reason', value: ({ reason }) => reason },
      { title: 'Recipients', value: ({ recipients }) => recipients, align: 'right' },
    ],
    cancellations,
  );
}
