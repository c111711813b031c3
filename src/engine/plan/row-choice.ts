import type { Composition } from '../../campaign/composition.ts';
import type { Template } from '../../campaign/placeholders.ts';
import type { Tariffs } from '../../campaign/tariffs.ts';
import type { ContactNote } from '../../domain/contact-notes.ts';
import type { Contact } from '../../domain/contacts.ts';
import type { Channel, Envelope } from '../../domain/message.ts';
import type { RejectedLine, SentContact } from '../../ledger/planning/read-decided.ts';
import type { ContactPlace } from './line-numbers.ts';
import type { ReadRowValues } from './row-values.ts';
import { isGsmText } from './sms-parts.ts';
import { createSmsReader } from './sms-text.ts';

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
  /** Called for each noted row that is left out. */
  readonly reject: (rejected: RejectedLine, place: ContactPlace) => void;
  /** In the order of the files. */
  readonly chosen: () => readonly ChosenRow[];
  /** The number of rows so far. */
  readonly rows: () => number;
};

type Candidate = Extract<ChosenRow, { kind: 'message' }>;

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
      if (contact.row) chosen.push(toCandidate(contact, contact.row, place));
    },
    reject({ row, column, reason, detail }, place) {
      if (row)
        chosen.push({
          kind: 'rejected',
          row: row.number,
          why: [],
          place,
          rejection: { column, reason, detail },
        });
    },
    chosen: () => chosen.toSorted((one, other) => one.row - other.row),
  };
}

/** @param isNoted whether a row may be chosen */
function numberRows(
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

function toCandidate(
  contact: SentContact,
  { number: row, values }: NonNullable<SentContact['row']>,
  place: ContactPlace,
): Candidate {
  return { kind: 'message', row, why: [], place, contact, values };
}

/** A file may be named without its folders, or from another folder. */
export function isSameFile(name: string, written: string): boolean {
  return name === written || name.endsWith(`/${written}`) || written.endsWith(`/${name}`);
}

/** Different SubAccounts, or rates, of which a message each is shown. */
const maxOfEach = 6;

const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;

/**
 * Chooses one row for each thing that goes wrong: first, longest, shortest, most parts, a fallback, an empty value, each
 * SubAccount, rate and encoding, right-to-left text.
 */
export function chooseTellingRows(
  composition: Composition,
  readValues: ReadRowValues,
  channel: Channel,
  { tariffIndexOf }: Pick<Tariffs, 'tariffIndexOf'>,
): RowChoice {
  const kept = new Map<string, Candidate>();
  const extremes = new Map<string, number>();
  const counts = { subAccounts: new Set<string>(), rates: new Set<number>() };
  const isEmptyIn = createEmptyValueFinder(composition, readValues);
  const readSms = channel === 'sms' ? createSmsReader() : undefined;

  const consider = (candidate: Candidate): void => {
    const { envelope, address, destination } = candidate.contact;
    const sms = readSms?.(envelope, { Recipient: address, ...destination });
    const keep = (why: string): void => void kept.set(why, candidate);
    const keepFirst = (why: string, applies: () => boolean): void => {
      if (!kept.has(why) && applies()) keep(why);
    };
    const keepMost = (why: string, size: number): void => {
      if (size <= (extremes.get(why) ?? Number.NEGATIVE_INFINITY)) return;
      extremes.set(why, size);
      keep(why);
    };
    const length = (sms?.text ?? contentOf(envelope)).length;
    keepFirst('first', () => true);
    keepMost('longest', length);
    keepMost('shortest', -length);
    if (sms && sms.parts > 1) keepMost('most parts', sms.parts);
    keepFirst('fallback used', () => isEmptyIn(candidate, true));
    keepFirst('empty value', () => isEmptyIn(candidate, false));
    if (sms) keepFirst(isGsmText(sms.text) ? 'GSM-7' : 'UCS-2', () => true);
    keepFirst('right to left', () => rightToLeft.test(sms?.text ?? contentOf(envelope)));
    keepEach(counts.subAccounts, envelope.fields['SubAccount'], (name) => keep(`SubAccount ${name}`));
    keepEach(counts.rates, tariffIndexOf?.(address), (index) => {
      if (index > 0) keep(`rate ${index + 1}`);
    });
  };
  return {
    ...numberRows(({ kind }) => kind === 'contact'),
    add(contact, place) {
      if (contact.row) consider(toCandidate(contact, contact.row, place));
    },
    reject: () => undefined,
    chosen: () => withReasons(kept),
  };
}

function keepEach<Key>(known: Set<Key>, key: Key | undefined, keep: (key: Key) => void): void {
  if (key === undefined || known.size === maxOfEach || known.has(key)) return;
  known.add(key);
  keep(key);
}

function withReasons(kept: ReadonlyMap<string, Candidate>): ChosenRow[] {
  const byRow = Map.groupBy(kept, ([, { row }]) => row);
  return [...byRow.values()]
    .flatMap((entries) => {
      const [first] = entries;
      return first ? [{ ...first[1], why: entries.map(([why]) => why) }] : [];
    })
    .sort((one, other) => one.row - other.row);
}

const contentFields = ['EmailSubject', 'Message', 'MessagePlain', 'MessageHTML', 'MessageToPeople'];

function contentOf({ fields }: Envelope): string {
  return contentFields.map((name) => fields[name] ?? '').join('\n');
}

/** Whether a value that the message uses is empty, with or without a fallback. */
function createEmptyValueFinder(
  { fields, serviceText }: Composition,
  readValues: ReadRowValues,
): (candidate: Candidate, hasFallback: boolean) => boolean {
  const templates: readonly Template[] = [
    ...fields.filter(({ definition }) => definition !== serviceText?.definition).map((each) => each.template),
    serviceText?.template ?? [],
  ];
  const used = templates.flat().flatMap((segment) => (segment.kind === 'column' ? [segment] : []));
  return ({ place, values }, hasFallback) => {
    const among = used.filter(({ fallback }) => (fallback !== '') === hasFallback);
    if (among.length === 0) return false;
    const valueIn = readValues(place.index, values);
    return among.some(({ column }) => valueIn(column) === '');
  };
}
