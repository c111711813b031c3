import type { Composition } from '../campaign/composition.ts';
import { openPersonaliser } from '../campaign/personalise.ts';
import type { Contact } from '../domain.ts';
import type { AddressReader } from './address.ts';
import { countryOf } from './country.ts';
import type { ContactFile } from './read.ts';

/**
 * Maps, normalises and validates each row of a contact file that the campaign is for, in order.
 *
 * @param onFiltered called for each row that it is not for
 */
export async function* readContacts(
  { header, rows }: ContactFile,
  composition: Composition,
  readAddress: AddressReader,
  onFiltered: () => void = () => {},
): AsyncGenerator<Contact, void, undefined> {
  const position = new Map(header.map((column, index) => [column, index]));
  const { recipientColumn, countryColumn, filter } = composition;
  const toPersonalise = openPersonaliser(composition);

  for await (const { line, values } of rows) {
    if (values.length !== header.length) {
      const detail = `${values.length} values, where the header has ${header.length} columns`;
      yield { kind: 'rejected', file: 0, line, column: '', reason: 'invalid', detail };
      continue;
    }
    const valueIn = (column: string): string => values[position.get(column) ?? -1] ?? '';

    if (filter && !filter(valueIn)) {
      onFiltered();
      continue;
    }

    const country = countryColumn === undefined ? '' : valueIn(countryColumn).trim();
    const ownCountry = country === '' ? undefined : countryOf(country);
    if (country !== '' && ownCountry === undefined) {
      const detail = `"${country}" is no country with phone numbers; expected a code such as NZ, or its English name`;
      yield { kind: 'rejected', file: 0, line, column: countryColumn ?? '', reason: 'invalid', detail };
      continue;
    }
    const originalAddress = valueIn(recipientColumn);
    const address = readAddress(originalAddress, ownCountry);
    if (address.kind === 'invalid') {
      yield {
        kind: 'rejected',
        file: 0,
        line,
        column: recipientColumn,
        reason: 'invalid',
        detail: address.detail,
      };
      continue;
    }
    const personalised = toPersonalise(valueIn);
    if (personalised.kind === 'invalid') {
      yield {
        kind: 'rejected',
        file: 0,
        line,
        column: personalised.column,
        reason: 'invalid',
        detail: personalised.detail,
      };
      continue;
    }
    const { envelope, destination } = personalised;
    yield {
      kind: 'contact',
      file: 0,
      line,
      address: address.address,
      originalAddress,
      envelope,
      destination,
    };
  }
}
