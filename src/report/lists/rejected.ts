import { type RejectedContact, rejectionReasons } from '../../domain/contacts.ts';
import type { RejectionGroup } from '../../ledger/counts/groups.ts';
import { type Columns, integerColumn, stateColumn, textColumn, wordsColumn } from '../column.ts';

/** The title of contacts that a run does not send to. */
export const leftOutTitle = 'Contacts that were left out';

const reasonColumn = stateColumn('reason', 'Reason', {
  values: rejectionReasons,
});
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
  reasonColumn,
  causeColumn,
  integerColumn('contacts', 'Contacts'),
];
