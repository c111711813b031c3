import type { RejectedContact, RunSummary } from '../domain.ts';
import type { DeliveryResult, Failure } from '../ledger/runs/details.ts';
import { printable } from './printable.ts';
import { runSummaryText } from './run-summary.ts';
import { table } from './table.ts';

/** The whole story of a run, for `volley report run`. */
export type RunDetails = {
  readonly summary: RunSummary;
  readonly stateReason: string | null;
  readonly failures: readonly Failure[];
  readonly deliveryResults: readonly DeliveryResult[];
  /** The first of them, in the order of the file. */
  readonly rejectedContacts: readonly RejectedContact[];
};

export function runDetailsText(details: RunDetails): string {
  const { summary, stateReason, failures, deliveryResults, rejectedContacts } = details;
  const parts = [runSummaryText(summary)];
  if (stateReason) parts.push(`  because     ${printable(stateReason)}`);
  if (deliveryResults.length > 0) parts.push('', 'Delivery results', deliveryTable(deliveryResults));
  if (failures.length > 0) parts.push('', 'Requests that were not accepted', failureTable(failures));
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

/** @param severalFiles whether a line alone does not tell a row */
export function rejectedTable(contacts: readonly RejectedContact[], severalFiles = false): string {
  return table(
    [
      {
        title: 'Line',
        value: ({ file, line }) => (severalFiles ? `${file}:${line}` : line),
        align: severalFiles ? 'left' : 'right',
      },
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
