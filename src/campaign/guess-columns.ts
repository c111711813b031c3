import type { Channel, DestinationField } from '../domain/message.ts';

/**
 * Column names that fill a destination field if the campaign does not map it, compared without case, spaces, "_"
 * and "-". Earlier lines take precedence. A field's own name comes first, so that a guess never changes what
 * `[[Company]]` means in a file with that column.
 */
type Names = readonly (readonly string[])[];

const phoneNames: Names = [
  ['recipient'],
  ['mobile', 'mobilenumber', 'mobilephone', 'mobileno', 'cell', 'cellphone', 'cellnumber', 'msisdn'],
  ['phone2', 'phone', 'phonenumber', 'phoneno', 'telephone', 'telephonenumber', 'tel'],
];

const recipientNames: Readonly<Record<Channel, Names>> = {
  sms: phoneNames,
  voice: phoneNames,
  tts: phoneNames,
  fax: [['recipient'], ['fax', 'faxnumber', 'faxno', 'facsimile'], ['phone1']],
  email: [['recipient'], ['email', 'mail', 'emailaddress']],
};

/** Nothing can be guessed of the custom fields: each campaign gives them its own meaning. */
const fieldNames: Readonly<Record<Exclude<DestinationField, 'Recipient'>, Names>> = {
  Attention: [['attention'], ['fullname', 'name', 'contact', 'contactname']],
  'First Name': [['firstname'], ['givenname']],
  'Last Name': [['lastname'], ['surname', 'familyname']],
  Company: [['company'], ['companyname', 'organisation', 'organization']],
  Custom1: [],
  Custom2: [],
};

export function guessColumns(
  field: DestinationField,
  channel: Channel,
  header: readonly string[],
): readonly string[] {
  return findByNames(header, usualNames(field, channel));
}

/** The columns with the first of these names that any has. */
export function findByNames(header: readonly string[], names: Names, plain = plainName): readonly string[] {
  const found = names.map((likely) => header.filter((column) => likely.includes(plain(column))));
  return found.find(({ length }) => length > 0) ?? [];
}

export function usualNames(field: DestinationField, channel: Channel): Names {
  return field === 'Recipient' ? recipientNames[channel] : fieldNames[field];
}

/** Names that people take for the same have the same plain name. */
export function plainName(column: string): string {
  return column.toLowerCase().replaceAll(/[\s_-]/g, '');
}
