import { findByNames, plainName } from '../campaign/guess-columns.ts';
import { comparedServiceAddress } from '../domain/compared-address.ts';
import { InputError, type Problem } from '../domain/problems.ts';
import type { AddressReader } from './address.ts';
import { cellFault } from './cell-notes.ts';
import type { ContactFile, Row } from './contact-file.ts';

/** The last two are optional. */
export const invoiceFields = ['MessageID', 'Destination', 'Price', 'Units', 'Date'] as const;
export type InvoiceField = (typeof invoiceFields)[number];

/** One recipient of a request, as the service invoices it. */
export type InvoiceLine = {
  readonly kind: 'line';
  readonly line: number;
  readonly messageId: string;
  /** As written in the invoice. */
  readonly destination: string;
  /** For comparison: lower case, without the plus sign. */
  readonly address: string;
  /** Decimal text; null: nothing was charged. */
  readonly price: string | null;
  /** Decimal text. */
  readonly units: string | null;
  /** As written in the invoice. */
  readonly date: string | null;
};

export type UnreadableLine = { readonly kind: 'unreadable'; readonly problem: Problem };

export type InvoiceOptions = {
  /** The others are guessed. */
  readonly columns: Readonly<Partial<Record<InvoiceField, string>>>;
  readonly decimal: 'point' | 'comma';
  /** Reads numbers whose form differs from the one sent. */
  readonly readAddress: AddressReader;
};

/** Compared without case, spaces, "_", "-" and ".". Earlier lines take precedence. */
const usualNames: Readonly<Record<InvoiceField, readonly (readonly string[])[]>> = {
  MessageID: [['messageid'], ['messageref', 'messagereference', 'msgid'], ['reference', 'ref']],
  Destination: [
    ['destination', 'recipient'],
    ['to', 'tonumber', 'destinationnumber', 'number', 'msisdn', 'mobile', 'phone', 'address', 'email'],
  ],
  Price: [['price'], ['cost', 'charge', 'amount'], ['total']],
  Units: [
    ['units'],
    ['parts', 'messageparts', 'smsparts', 'segments', 'pages', 'seconds', 'quantity', 'qty'],
  ],
  Date: [['date'], ['datetime', 'sent', 'sentat', 'senttime', 'timestamp', 'time']],
};
const mayBeMissing: readonly InvoiceField[] = ['Units', 'Date'];

type Columns = Readonly<Record<InvoiceField, number | undefined>>;

type InvoiceFile = Pick<ContactFile, 'name' | 'header' | 'batches' | 'place'>;

/**
 * Finds the columns as named, or by usual names.
 *
 * @returns indexes; undefined for a missing optional column
 * @throws InputError naming every missing or ambiguous column
 */
export function invoiceColumns({ name, header }: InvoiceFile, named: InvoiceOptions['columns']): Columns {
  const problems: Problem[] = [];
  const findColumn = (field: InvoiceField): number | undefined => {
    const wanted = named[field];
    const found =
      wanted === undefined
        ? findByNames(header, usualNames[field], plainTitle)
        : header.filter((title) => title === wanted);
    const [only] = found;
    if (found.length === 1 && only !== undefined) return header.indexOf(only);
    if (found.length === 0 && wanted === undefined && mayBeMissing.includes(field)) return undefined;
    const what =
      wanted !== undefined
        ? `There is no column "${wanted}" for ${field}. The columns are ${quoted(header)}.`
        : `Which column is ${field}? ${found.length === 0 ? 'The columns are' : 'It may be'} ${quoted(found.length === 0 ? header : found)}; name it with --column ${field}="…".`;
    problems.push({ where: `${name}:1`, what });
    return undefined;
  };
  const columns = {
    MessageID: findColumn('MessageID'),
    Destination: findColumn('Destination'),
    Price: findColumn('Price'),
    Units: findColumn('Units'),
    Date: findColumn('Date'),
  };
  if (problems.length > 0) throw new InputError(problems);
  return columns;
}

function plainTitle(title: string): string {
  return plainName(title.replaceAll('.', ''));
}

function quoted(titles: readonly string[]): string {
  return titles.map((title) => `"${title}"`).join(', ');
}

/**
 * Reads an invoice in batches; an unreadable line has its position.
 *
 * @throws InputError for missing or ambiguous columns
 */
export async function* readInvoice(
  file: InvoiceFile,
  options: InvoiceOptions,
): AsyncGenerator<readonly (InvoiceLine | UnreadableLine)[], void, undefined> {
  const columns = invoiceColumns(file, options.columns);
  for await (const batch of file.batches)
    yield batch.map((row) => readLine(row, file.place, columns, options));
}

function readLine(
  row: Row,
  place: InvoiceFile['place'],
  columns: Columns,
  { decimal, readAddress }: InvoiceOptions,
): InvoiceLine | UnreadableLine {
  const { line } = row;
  const unreadable = (where: string, what: string): UnreadableLine => ({
    kind: 'unreadable',
    problem: { where, what },
  });
  if (row.kind === 'broken') return unreadable(place(line), `${row.detail}.`);
  const cell = (field: InvoiceField): string => row.values[columns[field] ?? -1]?.trim() ?? '';
  const at = (field: InvoiceField): string => place(line, columns[field] ?? 0);
  for (const field of invoiceFields) {
    const fault = cellFault(row, columns[field] ?? -1);
    if (fault !== undefined) return unreadable(at(field), `The line cannot be read: ${fault}.`);
  }
  const messageId = cell('MessageID');
  const destination = cell('Destination');
  if (messageId === '' || messageId.includes('\0'))
    return unreadable(at('MessageID'), 'The MessageID is missing.');
  if (destination === '' || destination.includes('\0'))
    return unreadable(at('Destination'), 'The destination is missing.');
  for (const field of ['Price', 'Units'] as const) {
    const text = cell(field);
    if (text !== '' && readAmount(text, decimal) === undefined)
      return unreadable(at(field), notAnAmount(text, field, decimal));
  }
  return {
    kind: 'line',
    line,
    messageId,
    destination,
    address: invoicedAddress(destination, readAddress),
    price: readAmount(cell('Price'), decimal) ?? null,
    units: readAmount(cell('Units'), decimal) ?? null,
    date: cell('Date') || null,
  };
}

/**
 * An exact amount as decimal text; undefined: invalid. Thousands separators are not allowed: `1,234` would be
 * ambiguous.
 */
function readAmount(text: string, decimal: InvoiceOptions['decimal']): string | undefined {
  const plain = text.replace(/^(-?)\p{Sc}\s?/u, '$1').replace(/\s?\p{Sc}$/u, '');
  const [, sign = '', whole = '', decimals] = (decimal === 'comma' ? withComma : withPoint).exec(plain) ?? [];
  if (whole === '' && decimals === undefined) return undefined;
  return `${sign}${whole || '0'}${decimals === undefined ? '' : `.${decimals}`}`;
}

const withPoint = /^([-+]?)(\d{0,20})(?:\.(\d{1,20}))?$/;
const withComma = /^([-+]?)(\d{0,20})(?:,(\d{1,20}))?$/;

function notAnAmount(text: string, field: InvoiceField, decimal: InvoiceOptions['decimal']): string {
  const other = decimal === 'comma' ? 'point' : 'comma';
  const hint =
    readAmount(text, other) === undefined
      ? 'Write it without thousands separators.'
      : `Set --decimal ${other} if it has a decimal ${other}.`;
  return `"${text}" is no ${field.toLowerCase()} with a decimal ${decimal}. ${hint}`;
}

/** In the form in which delivery reports are matched. */
function invoicedAddress(text: string, readAddress: AddressReader): string {
  if (text.includes('@')) return comparedServiceAddress(text);
  const read = readAddress(text);
  const written =
    read.kind === 'valid' ? read.address : text.replaceAll(/[\s().\-/]/g, '').replace(/^00/, '');
  return comparedServiceAddress(written);
}
