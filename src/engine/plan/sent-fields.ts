import type { SendingAccount } from '../../campaign/sending-account.ts';
import {
  type Channel,
  type DestinationField,
  destinationFields,
  type Envelope,
} from '../../domain/message.ts';
import { messageFields } from '../../wire/fields.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';

export type SentFields = {
  /** `Recipient` first. A field that is empty for a recipient is not sent. */
  readonly recipient: readonly DestinationField[];
  readonly request: readonly string[];
};

export type SentFieldsCollector = {
  readonly add: (envelope: Envelope, destination: Readonly<Record<string, string>>) => void;
  /** Fields that a sending window adds. */
  readonly addFields: (names: readonly string[]) => void;
  readonly found: () => SentFields;
};

/** Collects the fields that contacts actually use. */
export function collectSentFields(
  { interface: name }: SendingAccount,
  channel: Channel,
): SentFieldsCollector {
  const ofRecipients = new Set<string>(['Recipient']);
  const ofRequests = new Set<string>();
  const addEnvelope = memoizeByEnvelope(({ fields, audio, keypads, files }) => {
    for (const field in fields) ofRequests.add(field);
    for (const field in audio) ofRequests.add(field);
    if (keypads.length > 0) ofRequests.add('Keypads');
    if (files.length > 0) ofRequests.add('Files');
    return true;
  });
  return {
    add(envelope, destination) {
      for (const field in destination) ofRecipients.add(field);
      addEnvelope(envelope);
    },
    addFields(names) {
      for (const field of names) ofRequests.add(field);
    },
    found: () => ({
      recipient: destinationFields.filter((field) => ofRecipients.has(field)),
      request: [
        'MessageID',
        ...messageFields(name, channel).flatMap((field) =>
          ofRequests.has(field.name) ? [field.wireName] : [],
        ),
        ...['Keypads', 'Files'].filter((field) => ofRequests.has(field)),
      ],
    }),
  };
}
