import { type AuditInterface, auditActions, auditInterfaces, auditOutcomes } from '../../domain/access.ts';
import type { AuditEntry } from '../../ledger/audit/audit.ts';
import { columnsOf, integerColumn, stateColumn, textColumn, timeColumn, wordsColumn } from '../column.ts';
import type { Sheet } from '../formats/sheet.ts';
import { runColumn } from './usual.ts';

/** How an actor acted, in words. */
export const interfaceWords: Readonly<Record<AuditInterface, string>> = {
  cli: 'on the command line',
  api: 'over the API',
  dashboard: 'in the dashboard',
  schedule: 'by schedule',
};

/** What users, programs and schedules did. */
export const auditColumns = columnsOf<AuditEntry>()([
  integerColumn('entry', 'Entry', { json: ({ entry }) => entry, minor: 5 }),
  timeColumn('at', 'Time'),
  textColumn('who', 'Actor'),
  textColumn('how', 'Via', { values: auditInterfaces, minor: 3 }),
  textColumn('token', 'Token', { nullable: true, minor: 4 }),
  textColumn('action', 'Action', { values: auditActions }),
  { ...runColumn, nullable: true },
  textColumn('subject', 'Of', { nullable: true }),
  stateColumn('outcome', 'Outcome', { values: auditOutcomes }),
  wordsColumn('details', 'Details', ({ details }) => formatDetails(details), {
    json: ({ details }) => details,
    minor: 2,
  }),
]);

/** @param subtitle what was asked */
export function auditSheet(
  entries: AsyncIterable<readonly AuditEntry[]>,
  subtitle: readonly string[],
  asOf: Date,
): Sheet<AuditEntry> {
  return { title: 'Audit trail', subtitle, asOf: { at: asOf }, columns: auditColumns, rows: entries };
}

/** `reason: lunch; requests: 3`. */
function formatDetails(details: AuditEntry['details']): string {
  return shownDetails(details)
    .map(({ name, value }) => `${name}: ${value}`)
    .join('; ');
}

/** The details in their order, without those that say nothing. */
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
