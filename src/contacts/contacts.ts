import type { Composition } from '../campaign/composition.ts';
import { openPersonaliser } from '../campaign/personalise.ts';
import type { Contact } from '../domain.ts';
import type { AddressReader } from './address.ts';
import { countryOf } from './country.ts';
import type { ContactFile, Row } from './read.ts';

/**
 * Maps, normalises and validates the rows of contact files, in order, a batch at a time.
 *
 * @param files each with the columns the composition uses, in any order
 * @param onFiltered called for each row that the campaign is not for
 */
export async function* readContacts(
  files: readonly ContactFile[],
  composition: Composition,
  readAddress: AddressReader,
  onFiltered: () => void = () => {},
): AsyncGenerator<readonly Contact[], void, undefined> {
  for (const [file, { header, batches }] of files.entries()) {
    const readRow = rowReader(file, header, composition, readAddress);
    for await (const rows of batches) {
      const contacts: Contact[] = [];
      for (const row of rows) {
        const contact = readRow(row);
        if (contact) contacts.push(contact);
        else onFiltered();
      }
      yield contacts;
    }
  }
}

/** A row's contact; undefined for a row that the campaign is not for. */
function rowReader(
  file: number,
  header: readonly string[],
  composition: Composition,
  readAddress: AddressReader,
): (row: Row) => Contact | undefined {
  const { recipientColumn, countryColumn, filter } = composition;
  const personalise = openPersonaliser(composition);
  const places = new Map(header.map((column, index) => [column, index]));
  const recipientPlace = places.get(recipientColumn) ?? -1;
  let values: readonly string[] = [];
  // One function for all rows: it is called some ten times a row.
  const valueIn = (column: string): string => values[places.get(column) ?? -1] ?? '';

  return (row) => {
    const { line } = row;
    const rejected = (column: string, detail: string): Contact => ({
      kind: 'rejected',
      file,
      line,
      column,
      reason: 'invalid',
      detail,
    });
    if (row.kind === 'broken') return rejected(header[row.place ?? -1] ?? '', row.detail);
    values = row.values;
    if (filter && !filter(valueIn)) return undefined;

    const country = countryColumn === undefined ? '' : valueIn(countryColumn).trim();
    const ownCountry = country === '' ? undefined : countryOf(country);
    if (country !== '' && ownCountry === undefined) {
      const detail = `"${country}" is no country with phone numbers; expected a code such as NZ, or its English name`;
      return rejected(countryColumn ?? '', detail);
    }
    const originalAddress = values[recipientPlace] ?? '';
    const address = readAddress(originalAddress, ownCountry);
    if (address.kind === 'invalid') return rejected(recipientColumn, address.detail);

    const personalised = personalise(valueIn);
    if (personalised.kind === 'invalid') return rejected(personalised.column, personalised.detail);
    const { envelope, destination } = personalised;
    return { kind: 'contact', file, line, address: address.address, originalAddress, envelope, destination };
  };
}
