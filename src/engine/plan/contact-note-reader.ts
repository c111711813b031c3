import { readPhoneText } from '../../contacts/phone-text.ts';
import type { ContactNote } from '../../domain/contact-notes.ts';
import type { Contact } from '../../domain/contacts.ts';
import { createBidiReader } from './bidi-controls.ts';
import { createPastSendTimeReader } from './past-send-times.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import type { RowChoice } from './row-choice.ts';
import { createRowValues } from './row-values.ts';
import { createCauseReader } from './sms-causes.ts';
import { createSmsReader } from './sms-text.ts';

const none: readonly never[] = [];

/**
 * Reads what a plan shows of a contact if it is sent, which is known only after the last one. Most contacts have
 * nothing to note.
 *
 * @param rows of a page; undefined: there is none
 */
export function createNoteReader(
  { campaign, composition, contactFiles }: PreparedCampaign,
  now: Date,
  rows: Pick<RowChoice, 'noteRow'> | undefined,
): (contact: Contact, parts: number | null) => ContactNote | undefined {
  const { channel, message } = campaign.value;
  const readBidiControls = createBidiReader();
  const readPastSendTime = createPastSendTimeReader(message, now);
  const readCauses = createCauseReader(composition);
  const readSms = createSmsReader();
  const readValues = createRowValues(
    contactFiles.map(({ header }) => header),
    composition.derived,
  );
  return (contact, parts) => {
    const row = rows?.noteRow(contact);
    if (contact.kind === 'rejected') return row && { row };
    const { file, address, originalAddress, envelope, destination, values } = contact;
    const removed = channel === 'email' ? none : readPhoneText(originalAddress).removed;
    const bidiControls = readBidiControls(envelope, destination);
    const pastSendTime = readPastSendTime(envelope);
    const costly =
      parts === null || parts === 1
        ? none
        : readCauses(
            values && readValues(file, values),
            readSms(envelope, { Recipient: address, ...destination }),
            envelope.fields['CharacterConversion'] === 'true',
          );
    const some = removed.length + bidiControls.length + costly.length > 0;
    if (!some && pastSendTime === undefined && row === undefined) return undefined;
    return {
      ...(removed.length > 0 && { removed }),
      ...(bidiControls.length > 0 && { bidiControls }),
      ...(pastSendTime !== undefined && { pastSendTime }),
      ...(costly.length > 0 && { costly }),
      ...(row && { row }),
    };
  };
}
