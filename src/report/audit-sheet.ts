import type { AuditEntry } from '../ledger/audit/audit.ts';
import type { Sheet, SheetColumn } from './formats/sheet.ts';

const columns: readonly SheetColumn<AuditEntry>[] = [
  { key: 'entry', title: 'Entry', kind: 'integer', value: ({ entry }) => entry, minor: 5 },
  { key: 'at', title: 'Time (UTC)', kind: 'time', value: ({ at }) => at },
  { key: 'who', title: 'Actor', kind: 'text', value: ({ who }) => who },
  { key: 'how', title: 'Via', kind: 'text', value: ({ how }) => how, minor: 3 },
  { key: 'token', title: 'Token', kind: 'text', value: ({ token }) => token, minor: 4 },
  { key: 'action', title: 'Action', kind: 'text', value: ({ action }) => action },
  { key: 'run', title: 'Run', kind: 'text', value: ({ run }) => run },
  { key: 'subject', title: 'Of', kind: 'text', value: ({ subject }) => subject },
  { key: 'outcome', title: 'Outcome', kind: 'text', value: ({ outcome }) => outcome },
  {
    key: 'details',
    title: 'Details',
    kind: 'text',
    value: ({ details }) => formatDetails(details),
    minor: 2,
  },
];

export function auditSheet(
  entries: AsyncIterable<readonly AuditEntry[]>,
  subtitle: readonly string[],
  asOf: Date,
): Sheet<AuditEntry> {
  return { title: 'Audit trail', subtitle, asOf, columns, rows: entries };
}

/** `reason: lunch; requests: 3`. */
export function formatDetails(details: AuditEntry['details']): string {
  return shownDetails(details)
    .map(({ name, value }) => `${name}: ${value}`)
    .join('; ');
}

/** In their order, without those that say nothing. */
export function shownDetails(
  details: AuditEntry['details'],
): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(details)
    .filter(([, value]) => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => ({ name, value: detailText(value) }));
}

/** A list of names is read as one. */
function detailText(value: unknown): string {
  if (typeof value === 'string') return value;
  const isNames = Array.isArray(value) && value.every((each) => typeof each === 'string');
  return isNames ? value.join(', ') : JSON.stringify(value);
}
