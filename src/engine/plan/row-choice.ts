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

type ShownRow = Extract<ChosenRow, { kind: 'message' }>;

/** Why a plan shows a row without being asked for it. Without a reason it is not shown. */
type RowReasons = {
  /** Of each valid row that is read. */
  readonly ofRead: (contact: Extract<Contact, { kind: 'contact' }>) => readonly string[];
  /** Of each noted row that is sent. For each reason, the last one is shown. */
  readonly ofSent: (contact: SentContact, place: ContactPlace) => readonly string[];
};

/** @param isWanted whether a row is chosen in any case, by its number, the index of its file, and its line */
export function chooseRows(
  isWanted: (row: number, file: number, line: number) => boolean,
  reasons?: RowReasons,
): RowChoice {
  let number = 0;
  const shown = new Map<string, ShownRow>();
  const wanted = new Map<number, ChosenRow>();
  return {
    noteRow(contact) {
      number++;
      const why = contact.kind === 'contact' && reasons ? reasons.ofRead(contact) : [];
      if (why.length === 0 && !isWanted(number, contact.file, contact.line)) return undefined;
      return { number, values: contact.kind === 'contact' ? (contact.values ?? []) : [] };
    },
    add(contact, place) {
      if (!contact.row) throw new Error(`The row at ${place.file}:${place.line} was not noted.`);
      const { number: row, values } = contact.row;
      const chosen: ShownRow = { kind: 'message', row, why: [], place, contact, values };
      for (const why of reasons?.ofSent(contact, place) ?? []) shown.set(why, chosen);
      if (isWanted(row, place.index, place.line)) wanted.set(row, chosen);
    },
    reject({ row, column, reason, detail }, place) {
      if (!row || !isWanted(row.number, place.index, place.line)) return;
      const rejection = { column, reason, detail };
      wanted.set(row.number, { kind: 'rejected', row: row.number, why: [], place, rejection });
    },
    chosen: () => {
      const rows = new Map([...wanted.values(), ...withReasons(shown)].map((each) => [each.row, each]));
      return [...rows.values()].sort((one, other) => one.row - other.row);
    },
    rows: () => number,
  };
}

function withReasons(shown: ReadonlyMap<string, ShownRow>): ShownRow[] {
  const byRow = Map.groupBy(shown, ([, { row }]) => row);
  return [...byRow.values()].flatMap((entries) => {
    const [first] = entries;
    return first ? [{ ...first[1], why: entries.map(([why]) => why) }] : [];
  });
}

/** @param nameOf the name of a file */
export function chooseWantedRows(wanted: readonly WantedRow[], nameOf: (file: number) => string): RowChoice {
  const numbers = new Set(wanted.flatMap((each) => (each.kind === 'number' ? each.row : [])));
  const lines = wanted.filter((each) => each.kind === 'line');
  return chooseRows(
    (row, file, line) =>
      numbers.has(row) || lines.some((each) => each.line === line && isSameFile(nameOf(file), each.file)),
  );
}

/** A file may be named without its folders, or from another folder. */
export function isSameFile(name: string, written: string): boolean {
  return name === written || name.endsWith(`/${written}`) || written.endsWith(`/${name}`);
}
