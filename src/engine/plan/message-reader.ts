import type { Destination } from '../../domain/message.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import type { PreviewedMessage } from './preview.ts';
import type { ValidContact } from './preview-rejections.ts';
import type { SmsText } from './sms-text.ts';

/** Reads a contact's message with the fields that a window adds. */
export function createMessageReader(
  { campaign, account, contactFiles }: Pick<PreparedCampaign, 'campaign' | 'account' | 'contactFiles'>,
  now: Date,
): (contact: ValidContact, destination: Destination, sms: SmsText | undefined) => PreviewedMessage {
  const planWindow = windowPlanner(campaign.value.window, account.interface, now);
  return ({ file, line, envelope, zones }, destination, sms) => {
    const handover = zones === undefined ? undefined : planWindow?.(zones.split(','))?.handover;
    return {
      ...envelope,
      file: contactFiles[file]?.name ?? '',
      line,
      destination,
      fields: { ...envelope.fields, ...handover?.fields },
      text: sms?.text ?? null,
    };
  };
}
