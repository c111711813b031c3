import type { ContactNote } from '../../domain/contact-notes.ts';
import type { Contact } from '../../domain/contacts.ts';
import type { RejectedLine, SentContact } from '../../ledger/planning/read-decided.ts';
import type { ContactPlace } from './contact-files.ts';

/** A row by its number, or by its file and line. */
export type WantedRow =
  | { readonly kind: 'number'; readonly row: number }
  | { readonly kind: 'line'; readonly file: string; readonly line: number };

export type ChosenRow = {
  /** Among all rows that were read, from 1. */
  readonly row: number;
  readonly why: readonly string[];
  readonly place: ContactPlace;
} & (
  | { readonly kind: 'message'; readonly contact: SentContact; readonly values: readonly string[] }
  | { readonly kind: 'rejected'; readonly rejection: Rejection }
);

type Rejection = Pick<RejectedLine, 'column' | 'reason' | 'detail'>;

/** Chooses the rows of a page, and keeps only those. */
export type RowChoice = {
  /** Called for each row that is read: what is noted of a row that may be chosen. */
  readonly noteRow: (contact: Contact) => ContactNote['row'];
  /** Called for each noted row that is sent. */
  readonly add: (contact: SentContact, place: ContactPlace) => void;
  /** Called for each noted row that is rejected. */
  readonly reject: (rejected: RejectedLine, place: ContactPlace) => void;
  /** In the order of the files. */
  readonly chosen: () => readonly ChosenRow[];
  /** The number of rows so far. */
  readonly rows: () => number;
};

export type ShownRow = Extract<ChosenRow, { kind: 'message' }>;

/** @param nameOf the name of a file */
export function chooseWantedRows(wanted: readonly WantedRow[], nameOf: (file: number) => string): RowChoice {
  const numbers = new Set(wanted.flatMap((each) => (each.kind === 'number' ? each.row : [])));
  const lines = wanted.filter((each) => each.kind === 'line');
  const chosen: ChosenRow[] = [];
  const rows = numberRows(
    ({ file, line }, row) =>
      numbers.has(row) || lines.some((each) => each.line === line && isSameFile(nameOf(file), each.file)),
  );
  return {
    ...rows,
    add(contact, place) {
      chosen.push(toShownRow(contact, place));
    },
    reject(rejected, place) {
      const row = toRejectedRow(rejected, place);
      if (row) chosen.push(row);
    },
    chosen: () => chosen.toSorted((one, other) => one.row - other.row),
  };
}

/** @param isNoted whether a row may be chosen */
export function numberRows(
  isNoted: (contact: Contact, row: number) => boolean,
): Pick<RowChoice, 'noteRow' | 'rows'> {
  let number = 0;
  return {
    noteRow(contact) {
      number++;
      if (!isNoted(contact, number)) return undefined;
      return { number, values: contact.kind === 'contact' ? (contact.values ?? []) : [] };
    },
    rows: () => number,
  };
}

/** The row of a contact, which must have been noted. */
export function toShownRow(contact: SentContact, place: ContactPlace): ShownRow {
  if (!contact.row) throw new Error(`The row at ${place.file}:${place.line} was not noted.`);
  const { number: row, values } = contact.row;
  return { kind: 'message', row, why: [], place, contact, values };
}

/** The same for a contact that is rejected; undefined: its row was not noted. */
export function toRejectedRow(
  { row, column, reason, detail }: RejectedLine,
  place: ContactPlace,
): ChosenRow | undefined {
  if (!row) return undefined;
  return { kind: 'rejected', row: row.number, why: [], place, rejection: { column, reason, detail } };
}

/** A file may be named without its folders, or from another folder. */
export function isSameFile(name: string, written: string): boolean {
  return name === written || name.endsWith(`/${written}`) || written.endsWith(`/${name}`);
}
