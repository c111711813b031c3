import { deliveryReportFormats } from '../domain/delivery-reports.ts';
import type { MessageFields } from '../domain/message.ts';
import { acceptMessage } from './accept-message.ts';
import type { Clock } from './clock.ts';
import type { AcceptedMessage, Callback } from './delivery.ts';
import type { DeliveryReportSender } from './delivery-report-sender.ts';
import { type KeptMessage, type KeptMessages, openKeptMessages } from './kept-messages.ts';
import type { SandboxSettings } from './options.ts';
import type { Receipt } from './receive-request.ts';

/** Keeps accepted messages and schedules their delivery reports. */
type Deliveries = {
  readonly messages: KeptMessages;
  /** Does nothing for a request that was not accepted. */
  readonly add: (receipt: Receipt) => void;
  /** @param recipients whose delivery is reported when the message is sent */
  readonly replace: (
    kept: KeptMessage,
    message: AcceptedMessage,
    recipients: KeptMessage['destinations'],
  ) => void;
};

export function createDeliveries(
  settings: SandboxSettings,
  clock: Clock,
  sender: DeliveryReportSender,
): Deliveries {
  const messages = openKeptMessages();

  const keep = (kept: Omit<KeptMessage, 'cancelReports'>, recipients: KeptMessage['destinations']): void => {
    const { message, callback } = kept;
    const delay = message.sendAt.getTime() - clock.now().getTime();
    const cancelReports = callback && sender.schedule({ message, destinations: recipients, callback }, delay);
    messages.add({ ...kept, cancelReports: cancelReports ?? (() => {}) });
  };

  return {
    messages,
    add({ interface: interfaceName, version, request, acceptedAs }) {
      if (!interfaceName || version === undefined || !request || !acceptedAs) return;
      const message = acceptMessage(request, acceptedAs, {
        interface: interfaceName,
        version,
        acceptedAt: clock.now(),
        delay: settings.latency * clock.speed + settings.deliveryDelay,
        timeZone: settings.timeZone,
        holdsSendTime: settings.holdsSendTime,
      });
      const destinations = request.destinations.filter(({ Recipient }) => Recipient.trim() !== '');
      const callback = callbackOf(request.fields, settings.webhook);
      keep({ message, destinations, ...(callback && { callback }) }, destinations);
    },
    replace(kept, message, recipients) {
      kept.cancelReports();
      keep({ ...kept, message }, recipients);
    },
  };
}

/** The `X-Sender` of calls without configured credentials. */
const defaultSender = 'sandbox@service.example';

/** A request overrides the sender's default webhook, which must be configured (interface.md, 2.1 and 6). */
function callbackOf(fields: MessageFields, webhook: SandboxSettings['webhook']): Callback | undefined {
  if (!webhook) return undefined;
  const requested = fields['WebhookCallbackFormat']?.trim().toLowerCase();
  return {
    url: fields['WebhookCallbackURL']?.trim() || webhook.url,
    format: deliveryReportFormats.find((format) => format === requested) ?? webhook.format ?? 'json',
    id: webhook.id ?? 'message',
    sender: webhook.credentials?.sender ?? defaultSender,
    ...(webhook.credentials && { credentials: webhook.credentials }),
  };
}
