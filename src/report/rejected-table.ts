import type { RejectedContact } from '../domain/contacts.ts';
import type { Screen } from './screen.ts';
import { type Column, formatTable } from './table.ts';

/** Names files only when there are several. */
export function rejectedTable(contacts: readonly RejectedContact[], screen?: Screen): string {
  const severalFiles = new Set(contacts.map(({ file }) => file)).size > 1;
  const fileColumn: Column<RejectedContact> = { title: 'File', value: ({ file }) => file };
  return formatTable(
    [
      ...(severalFiles ? [fileColumn] : []),
      { title: 'Line', value: ({ line }) => line, align: 'right' },
      { title: 'Column', value: ({ column }) => column },
      { title: 'Reason', value: ({ reason }) => reason },
      { title: 'Detail', value: ({ detail }) => detail },
    ],
    contacts,
    [],
    screen,
  );
}
