import type { Destination } from '../../domain/message.ts';
import type { SentContact } from '../../ledger/planning/read-decided.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import type { ContactPlace } from './line-numbers.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import type { PreviewedMessage } from './preview.ts';
import { createSmsReader } from './sms-text.ts';

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
      destination,
      fields: { ...envelope.fields, ...handover?.fields },
      text: readSms?.(envelope, destination).text ?? null,
    };
  };
}
