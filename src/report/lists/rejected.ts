import { type RejectedContact, rejectionReasons } from '../../domain/contacts.ts';
import { controlGroupColumn } from '../../domain/rejected-contacts.ts';
import type { RejectionGroup } from '../../ledger/counts/groups.ts';
import { type Columns, integerColumn, stateColumn, textColumn, wordsColumn } from '../column.ts';

/** The title of contacts that a run does not send to. */
export const leftOutTitle = 'Contacts that were left out';

const reasonColumn = stateColumn('reason', 'Reason', {
  values: rejectionReasons,
});

/** The reason of a group in words. */
const groupReason = ({ reason, column }: Pick<RejectionGroup, 'reason' | 'column'>): string =>
  reason === 'suppressed' && column === controlGroupColumn ? 'control group' : reason;

const causeColumn = textColumn('column', 'Column');

/** Contacts that were left out of a run. @param contacts of which the file is named if they are of several */
export function rejectedColumns(contacts: readonly RejectedContact[]): Columns<RejectedContact> {
  const files = new Set(contacts.map(({ file }) => file));
  return [
    textColumn('file', 'File', files.size > 1 ? {} : { only: ['page', 'file'] }),
    integerColumn('line', 'Line'),
    causeColumn,
    reasonColumn,
    wordsColumn('detail', 'Detail'),
  ];
}

/** Their numbers. */
export const rejectionColumns: Columns<RejectionGroup> = [
  stateColumn('reason', 'Reason', ({ reason }) => reason, { values: rejectionReasons, shown: groupReason }),
  causeColumn,
  integerColumn('contacts', 'Contacts'),
];
