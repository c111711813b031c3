import type { Composition } from '../../campaign/composition.ts';
import type { Template } from '../../campaign/placeholders.ts';
import type { Tariffs } from '../../campaign/tariffs.ts';
import type { Contact } from '../../domain/contacts.ts';
import type { Destination, Envelope } from '../../domain/message.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';
import type { Rejection, ValidContact } from './preview-rejections.ts';
import type { ReadRowValues } from './row-values.ts';
import { isGsmText } from './sms-parts.ts';
import type { SmsText } from './sms-text.ts';

/** A row by its number, or by its file and line. */
export type WantedRow =
  | { readonly kind: 'number'; readonly row: number }
  | { readonly kind: 'line'; readonly file: string; readonly line: number };

export type ChosenRow = { readonly row: number; readonly why: readonly string[] } & (
  | {
      readonly kind: 'message';
      readonly contact: ValidContact;
      readonly destination: Destination;
      readonly sms: SmsText | undefined;
    }
  | { readonly kind: 'rejected'; readonly contact: Contact; readonly rejection: Rejection }
);

/** Chooses rows while all contacts pass by, and keeps only those. Every contact is either added or rejected. */
export type RowChoice = {
  readonly add: (contact: ValidContact, destination: Destination, sms: SmsText | undefined) => void;
  readonly reject: (contact: Contact, rejection: Rejection) => void;
  /** Those beyond the limit of a plan. */
  readonly skip: () => void;
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
  let row = 0;
  const isWanted = ({ file, line }: Contact): boolean => {
    row++;
    if (numbers.has(row)) return true;
    return lines.some((each) => each.line === line && isSameFile(nameOf(file), each.file));
  };
  return {
    add(contact, destination, sms) {
      if (isWanted(contact)) chosen.push({ kind: 'message', row, why: [], contact, destination, sms });
    },
    reject(contact, rejection) {
      if (isWanted(contact)) chosen.push({ kind: 'rejected', row, why: [], contact, rejection });
    },
    skip: () => void row++,
    chosen: () => chosen,
    rows: () => row,
  };
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
  { tariffIndexOf }: Pick<Tariffs, 'tariffIndexOf'>,
): RowChoice {
  const kept = new Map<string, Candidate>();
  const extremes = new Map<string, number>();
  const counts = { subAccounts: new Set<string>(), rates: new Set<number>() };
  const isEmptyIn = createEmptyValueFinder(composition, readValues);
  const lengthOf = memoizeByEnvelope(countContent);
  let row = 0;

  const consider = (candidate: Candidate): void => {
    const { contact, sms } = candidate;
    const keep = (why: string): void => void kept.set(why, candidate);
    const keepFirst = (why: string, applies: () => boolean): void => {
      if (!kept.has(why) && applies()) keep(why);
    };
    const keepMost = (why: string, size: number): void => {
      if (size <= (extremes.get(why) ?? Number.NEGATIVE_INFINITY)) return;
      extremes.set(why, size);
      keep(why);
    };
    const length = sms ? sms.text.length : lengthOf(contact.envelope);
    keepFirst('first', () => true);
    keepMost('longest', length);
    keepMost('shortest', -length);
    if (sms && sms.parts > 1) keepMost('most parts', sms.parts);
    keepFirst('fallback used', () => isEmptyIn(contact, true));
    keepFirst('empty value', () => isEmptyIn(contact, false));
    if (sms) keepFirst(isGsmText(sms.text) ? 'GSM-7' : 'UCS-2', () => true);
    keepFirst('right to left', () => rightToLeft.test(sms?.text ?? contentOf(contact.envelope)));
    keepEach(counts.subAccounts, contact.envelope.fields['SubAccount'], (name) => keep(`SubAccount ${name}`));
    keepEach(counts.rates, tariffIndexOf?.(contact.address), (index) => {
      if (index > 0) keep(`rate ${index + 1}`);
    });
  };
  return {
    add(contact, destination, sms) {
      row++;
      consider({ kind: 'message', row, why: [], contact, destination, sms });
    },
    reject: () => void row++,
    skip: () => void row++,
    chosen: () => withReasons(kept),
    rows: () => row,
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

function countContent(envelope: Envelope): number {
  return contentOf(envelope).length;
}

/** Whether a value that the message uses is empty, with or without a fallback. */
function createEmptyValueFinder(
  { fields, serviceText }: Composition,
  readValues: ReadRowValues,
): (contact: ValidContact, hasFallback: boolean) => boolean {
  const templates: readonly Template[] = [
    ...fields.filter(({ definition }) => definition !== serviceText?.definition).map((each) => each.template),
    serviceText?.template ?? [],
  ];
  const used = templates.flat().flatMap((segment) => (segment.kind === 'column' ? [segment] : []));
  return (contact, hasFallback) => {
    const among = used.filter(({ fallback }) => (fallback !== '') === hasFallback);
    if (among.length === 0) return false;
    const valueIn = readValues(contact);
    return among.some(({ column }) => valueIn(column) === '');
  };
}
