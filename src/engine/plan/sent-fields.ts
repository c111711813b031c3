import type { SendingAccount } from '../../campaign/sending-account.ts';
import {
  type Channel,
  type DestinationField,
  destinationFields,
  type Envelope,
  type MessageFields,
} from '../../domain/message.ts';
import type { FieldNames } from '../../ledger/planning/read-decided.ts';
import { messageFields } from '../../wire/fields.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';

export type SentFields = {
  /** `Recipient` first. A field that is empty for a recipient is not sent. */
  readonly recipient: readonly DestinationField[];
  readonly request: readonly string[];
};

/** Collects the fields that contacts use, also contacts that are left out later. */
export function collectFields() {
  const recipient = new Set<string>();
  const request = new Set<string>();
  const addEnvelope = memoizeByEnvelope(({ fields, audio, keypads, files }) => {
    for (const field in fields) request.add(field);
    for (const field in audio) request.add(field);
    if (keypads.length > 0) request.add('Keypads');
    if (files.length > 0) request.add('Files');
    return true;
  });
  return {
    add(envelope: Envelope, destination: MessageFields): void {
      for (const field in destination) recipient.add(field);
      addEnvelope(envelope);
    },
    found: (): FieldNames => ({ recipient: [...recipient], request: [...request] }),
  };
}

/** @param names of fields that contacts have which are sent, and of those that a sending window adds */
export function orderFields(
  { interface: name }: SendingAccount,
  channel: Channel,
  { recipient, request }: FieldNames,
): SentFields {
  return {
    recipient: destinationFields.filter((field) => field === 'Recipient' || recipient.includes(field)),
    request: [
      'MessageID',
      ...messageFields(name, channel).flatMap((field) =>
        request.includes(field.name) ? [field.wireName] : [],
      ),
      ...['Keypads', 'Files'].filter((field) => request.includes(field)),
    ],
  };
}
