import type { Channel, InterfaceName, SendRequest } from '../domain.ts';
import { messageFields } from './fields.ts';
import { isBlank } from './json.ts';

/**
 * What the service refuses a request for: "presence of required fields", nothing else (interface.md, sections 3 and 7),
 * in the words seen in one deployment (observed.md, "Rejection texts").
 */

const missingBody: Readonly<Partial<Record<Channel, string>>> = {
  sms: 'Missing or empty message',
  email: 'Missing or empty message body. Please specify MessagePlain or MessageHTML',
  fax: 'Missing fax contents - Empty or missing message & file fields',
};

/** What is wrong when the body holds no message at all. */
export const missingMessageData = 'Missing message data';

/** Every reason to refuse the request, in the service's words; none when it would be accepted. */
export function refusals(interfaceName: InterfaceName, request: SendRequest): readonly string[] {
  return [
    ...destinationRefusals(request),
    ...callbackRefusals(request),
    ...contentRefusals(interfaceName, request),
  ];
}

function destinationRefusals({ destinations }: SendRequest): readonly string[] {
  if (destinations.length === 0) return ['Missing or empty destinations'];
  if (destinations.every(({ Recipient }) => isBlank(Recipient))) {
    return ['Error - Could not find any valid destination(s).'];
  }
  return [];
}

function callbackRefusals({ fields }: SendRequest): readonly string[] {
  const url = fields['WebhookCallbackURL'];
  const refused = url !== undefined && !isBlank(url) && !url.startsWith('https://');
  return refused ? ['WebhookCallbackURL must start with https://'] : [];
}

function contentRefusals(interfaceName: InterfaceName, request: SendRequest): readonly string[] {
  const words = request.channel === 'fax' ? fileRefusals(request) : [];
  const bodyFields = messageFields(interfaceName, request.channel).filter(
    ({ required }) => required !== 'no',
  );
  const hasBody = bodyFields.some(({ name }) => !isBlank(request.fields[name]));
  const filesAreBody = request.channel === 'fax' && request.files.length > 0;
  const missing = missingBody[request.channel];
  return hasBody || filesAreBody || missing === undefined ? words : [...words, missing];
}

function fileRefusals({ files }: SendRequest): readonly string[] {
  return files.flatMap(({ Name, Data }, index) => [
    ...(isBlank(Name) ? [`Missing file name on file ${index + 1}`] : []),
    ...(isBlank(Data) ? [`Missing file data on file ${index + 1}`] : []),
  ]);
}
