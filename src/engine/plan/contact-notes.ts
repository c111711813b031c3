import type { Campaign } from '../../campaign/campaign.ts';
import { isSendTimePast } from '../../campaign/send-times.ts';
import { sentVariants } from '../../campaign/variants.ts';
import { readPhoneText } from '../../contacts/phone-text.ts';
import type { ContactNote } from '../../domain/contact-notes.ts';
import type { Contact } from '../../domain/contacts.ts';
import type { Envelope, MessageFields } from '../../domain/message.ts';
import type { NotedContact } from '../../ledger/planning/read-decided.ts';
import { bidiControls, characterName } from '../../platform/invisible-characters.ts';
import { memoize } from '../../platform/memoize.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';
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
  prepared: PreparedCampaign,
  now: Date,
  rows: Pick<RowChoice, 'noteRow'> | undefined,
): (contact: Contact, parts: number | null) => ContactNote | undefined {
  const { campaign, messagesOf } = prepared;
  const { channel } = campaign.value;
  const readBidiControls = createBidiReader();
  const readPastSendTime = createPastSendTimeReader(campaign, now);
  const causesOf = memoize(createCauseReader);
  const readSms = createSmsReader();
  const readValues = createRowValues(prepared);
  return (contact, parts) => {
    const row = rows?.noteRow(contact);
    if (contact.kind === 'rejected') return row && { row };
    const { file, address, originalAddress, envelope, destination, values, variant } = contact;
    const removed = channel === 'email' ? none : readPhoneText(originalAddress).removed;
    const bidi = readBidiControls(envelope, destination);
    const pastSendTime = readPastSendTime(envelope);
    const costly =
      parts === null || parts === 1
        ? undefined
        : causesOf(messagesOf(variant)[0])(
            values && readValues(file, values),
            readSms(envelope, { Recipient: address, ...destination }),
            envelope.fields['CharacterConversion'] === 'true',
          );
    const some = costly ?? pastSendTime ?? row;
    if (removed.length + bidi.length === 0 && some === undefined) return undefined;
    return {
      ...(removed.length > 0 && { removed }),
      ...(bidi.length > 0 && { bidiControls: bidi }),
      ...(pastSendTime !== undefined && { pastSendTime }),
      ...(costly && { costly }),
      ...(row && { row }),
    };
  };
}

/**
 * Finds past or empty SendTimes, which the service sends at once.
 *
 * @returns reads the SendTime; '' when it is empty, undefined when it is to come
 */
export function createPastSendTimeReader(
  campaign: Campaign,
  now: Date,
): (envelope: Envelope) => string | undefined {
  const isTimed = sentVariants(campaign).some((each) =>
    Object.hasOwn(each.campaign.value.message, 'SendTime'),
  );
  if (!isTimed) return () => undefined;
  const isOverIn = memoizeByEnvelope(
    ({ fields }) => fields['SendTime'] === undefined || isSendTimePast(fields, now),
  );
  return (envelope) => (isOverIn(envelope) ? (envelope.fields['SendTime'] ?? '') : undefined);
}

/**
 * Bidi controls can disguise text: `moc.elpmaxe` may read as another address. Languages written from right to left
 * need them, so no run is refused.
 */
function createBidiReader(): (envelope: Envelope, destination: MessageFields) => readonly string[] {
  const sharedBy = memoizeByEnvelope(({ fields }) => Object.values(fields).flatMap(bidiControls));
  return (envelope, destination) => {
    const found = sharedBy(envelope);
    for (const field in destination) {
      const own = bidiControls(destination[field] ?? '');
      if (own.length > 0)
        return [...new Set([...found, ...Object.values(destination).flatMap(bidiControls)])];
    }
    return found;
  };
}

/** Counts what the notes of sent contacts say. */
export function countNotes(fileAndLine: (line: number) => string) {
  const [removed, disguised] = [countRecipients<string>(), countRecipients<string>()];
  /** '' where the row has none. */
  const past = countRecipients<{ readonly fileAndLine: string; readonly sendTime: string }>();
  const marks = new Map<string, number>();
  const characters = new Set<string>();
  return {
    add({
      line,
      note: { removed: found = none, bidiControls: controls = none, pastSendTime },
    }: NotedContact): void {
      const where = (): string => fileAndLine(line);
      if (found.length > 0) removed.add(where);
      for (const mark of new Set(found)) marks.set(mark, (marks.get(mark) ?? 0) + 1);
      if (controls.length > 0) disguised.add(where);
      for (const control of controls) characters.add(characterName(control));
      if (pastSendTime !== undefined) past.add(() => ({ fileAndLine: where(), sendTime: pastSendTime }));
    },
    found: () => ({
      /** What was removed around phone numbers: `tel:`, and invisible characters by name. */
      removedMarks: {
        ...removed.found(),
        marks: [...marks].map(([mark, recipients]) => ({
          mark: mark === 'tel:' ? mark : characterName(mark),
          recipients,
        })),
      },
      /** Recipients whose message has such characters, by their Unicode names. */
      bidiControls: { ...disguised.found(), characters: [...characters] },
      /** Recipients whom the service would send to at once, with their SendTime. */
      pastSendTimes: past.found(),
    }),
  };
}

export type NotesFound = ReturnType<ReturnType<typeof countNotes>['found']>;

const maxExamples = 3;

function countRecipients<Example>() {
  const examples: Example[] = [];
  let recipients = 0;
  return {
    add(example: () => Example): void {
      recipients++;
      if (examples.length < maxExamples) examples.push(example());
    },
    found: () => ({ recipients, examples }),
  };
}
