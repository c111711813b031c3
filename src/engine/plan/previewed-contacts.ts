import { variantName } from '../../campaign/variants.ts';
import { restNumber } from '../../domain/contacts.ts';
import { type Destination, destinationFields } from '../../domain/message.ts';
import type { PlanRules } from '../../ledger/planning/planned-run.ts';
import {
  type FieldNames,
  findSentFields,
  listFirstOfVariants,
  listSent,
  type SentContact,
  streamNotes,
} from '../../ledger/planning/read-decided.ts';
import type { WindowTotals } from '../../ledger/planning/windows.ts';
import type { Transaction } from '../../ledger/session.ts';
import { messageFields } from '../../wire/fields.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import type { ContactPlace } from './contact-files.ts';
import { countNotes, type NotesFound } from './contact-notes.ts';
import { countPartCauses } from './part-causes.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import type { Preview, PreviewedMessage } from './preview.ts';
import type { PreviewedPlan } from './prove-plan.ts';
import { createSmsReader } from './sms-text.ts';

const maxMessages = 3;

/** Reads what a plan shows of the contacts that are sent. */
export async function readPreviewedContacts(
  client: Transaction,
  { prepared, now, staged, rules, windowTotals }: PreviewedPlan,
): Promise<NotesFound & Pick<Preview, 'sentFields' | 'partCauses' | 'messages'>> {
  const notes = countNotes(staged.fileAndLine);
  const partCauses = countPartCauses();
  for await (const batch of streamNotes(client)) {
    for (const noted of batch) {
      notes.add(noted);
      if (noted.note.costly) partCauses.add(noted.note.costly, noted.tariffIndex ?? 0);
    }
  }
  const readMessage = createMessageReader(prepared, now);
  return {
    sentFields: await listSentFields(client, prepared, listWindowFields(rules, windowTotals)),
    ...notes.found(),
    partCauses: rules.channel === 'sms' ? partCauses.found(rules.rates, now) : null,
    messages: (rules.variants ? await listFirstOfVariants(client) : await listSent(client, maxMessages)).map(
      (contact) => readMessage(contact, staged.placeOf(contact.line)),
    ),
  };
}

/** Reads a contact's message with the fields that a window adds. */
export function createMessageReader(
  { campaign, account }: Pick<PreparedCampaign, 'campaign' | 'account'>,
  now: Date,
): (contact: SentContact, place: ContactPlace) => PreviewedMessage {
  const { channel, window } = campaign.value;
  const planWindow = windowPlanner(window, account.interface, now);
  const readSms = channel === 'sms' ? createSmsReader() : undefined;
  return ({ address, envelope, zones, ...contact }, { file, line }) => {
    const destination: Destination = { Recipient: address, ...contact.destination };
    const handover = zones === null ? undefined : planWindow?.(zones.split(','))?.handover;
    return {
      ...envelope,
      file,
      line,
      variant: variantName(campaign.value, contact),
      destination,
      fields: { ...envelope.fields, ...handover?.fields },
      text: readSms?.(envelope, destination).text ?? null,
    };
  };
}

function listWindowFields({ window }: PlanRules, totals: readonly WindowTotals[]): string[] {
  const windowed = totals.filter(({ zones }) => zones.length > 0);
  return windowed.flatMap(({ zones }) => Object.keys(window?.(zones).handover?.fields ?? {}));
}

/** @param ofWindows fields that sending windows add to requests */
async function listSentFields(
  client: Transaction,
  {
    campaign,
    composition: { account },
    messagesOf,
  }: Pick<PreparedCampaign, 'campaign' | 'composition' | 'messagesOf'>,
  ofWindows: readonly string[],
): Promise<FieldNames> {
  const messages = messagesOf(restNumber);
  const sent = await findSentFields(client, {
    recipient: [...new Set(messages.flatMap(({ bindings }) => bindings.map(({ field }) => field)))],
    request: [
      ...new Set(
        messages.flatMap(({ fields, audio, keypads, files }) => [
          ...[...fields, ...audio].map(({ definition }) => definition.name),
          ...(keypads.length > 0 ? ['Keypads'] : []),
          ...(files.length > 0 ? ['Files'] : []),
        ]),
      ),
    ],
  });
  const request = [...sent.request, ...ofWindows];
  return {
    recipient: destinationFields.filter((field) => field === 'Recipient' || sent.recipient.includes(field)),
    request: [
      'MessageID',
      ...messageFields(account.interface, campaign.value.channel).flatMap(({ name, wireName }) =>
        request.includes(name) ? [wireName] : [],
      ),
      ...['Keypads', 'Files'].filter((field) => request.includes(field)),
    ],
  };
}
