import { html } from '../../report/html/html.ts';
import type { TableColumn } from '../parts/parts.ts';
import { recipientPath } from '../paths.ts';

type Row = {
  /** Null when it was erased. */
  readonly address: string | null;
  readonly file: string;
  readonly line: number;
  readonly request: number;
  readonly messageId: string;
};

/** Who it is, and where the contact file has them. */
export const contactColumns: readonly TableColumn<Row>[] = [
  {
    title: 'Address',
    cell: ({ address, messageId }) =>
      html`<a href="${recipientPath(address ?? messageId)}">${address ?? 'erased'}</a>`,
  },
  { title: 'File', cell: ({ file }) => file },
  { title: 'Line', isNumber: true, cell: ({ line }) => line },
];

export const requestColumns: readonly TableColumn<Row>[] = [
  { title: 'Request', isNumber: true, cell: ({ request }) => request },
  {
    title: 'MessageID',
    isLong: true,
    cell: ({ messageId }) => html`<a href="${recipientPath(messageId)}">${messageId}</a>`,
  },
];
