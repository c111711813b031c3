import { InputError } from '../domain/problems.ts';
import { createAddressReader } from './address.ts';
import { type ContactFile, openContactFile, type ReadingOptions } from './contact-file.ts';
import {
  type InvoiceLine,
  type InvoiceOptions,
  invoiceColumns,
  readInvoice,
  type UnreadableLine,
} from './invoice-file.ts';

/** How an invoice is read. Plain data, because a thread gets a copy. */
export type InvoiceReading = Pick<InvoiceOptions, 'columns' | 'decimal'> &
  Pick<ReadingOptions, 'skipLines' | 'maxUnpacked'> & {
    /** As errors show it. */
    readonly name: string;
    /** ISO 3166, for numbers without a country code. */
    readonly country: string | undefined;
  };

export type OpenedInvoice = Pick<ContactFile, 'close'> & {
  readonly hasUnits: boolean;
  readonly hasDate: boolean;
  /** Can be read once. */
  readonly batches: AsyncIterable<readonly (InvoiceLine | UnreadableLine)[]>;
};

/** @throws InputError when the file, a column or the country cannot be read */
export async function openInvoice(
  bytes: AsyncIterable<Buffer>,
  { name, country, skipLines = 0, maxUnpacked, ...options }: InvoiceReading,
): Promise<OpenedInvoice> {
  const file = await openContactFile(bytes, name, { skipLines, maxUnpacked });
  try {
    const columns = invoiceColumns(file, options.columns);
    const readAddress = createAddressReader('sms', country, 'allow', 'there is no --country');
    if (!readAddress)
      throw new InputError([
        { where: '--country', what: `"${country}" is not a country with phone numbers.` },
      ]);
    return {
      hasUnits: columns.Units !== undefined,
      hasDate: columns.Date !== undefined,
      batches: readInvoice(file, { ...options, readAddress }),
      close: file.close,
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}
