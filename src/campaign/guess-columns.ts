import type { Channel, DestinationField } from '../domain/message.ts';

/**
 * Which column of a contact file fills a destination field, where the campaign does not say so. Names are compared
 * without case, spaces, "_" and "-". An earlier line of a field's names is surer than a later one; the field's own name
 * is the surest, so that a guess never changes what `[[Company]]` means in a file that has such a column.
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

/** The custom fields mean whatever a campaign wants, so nothing can be guessed of them. */
const fieldNames: Readonly<Record<Exclude<DestinationField, 'Recipient'>, Names>> = {
  Attention: [['attention'], ['fullname', 'name', 'contact', 'contactname']],
  'First Name': [['firstname'], ['givenname']],
  'Last Name': [['lastname'], ['surname', 'familyname']],
  Company: [['company'], ['companyname', 'organisation', 'organization']],
  Custom1: [],
  Custom2: [],
};

/** The columns that could fill a field, all equally likely: one is a guess, several are a question. */
export function guessColumns(
  field: DestinationField,
  channel: Channel,
  header: readonly string[],
): readonly string[] {
  const names = field === 'Recipient' ? recipientNames[channel] : fieldNames[field];
  for (const likely of names) {
    const found = header.filter((column) => likely.includes(plainName(column)));
    if (found.length > 0) return found;
  }
  return [];
}

function plainName(column: string): string {
  return column.toLowerCase().replaceAll(/[\s_-]/g, '');
}
