import type { Channel, InterfaceName, SendRequest } from '../domain/message.ts';
import { isLoopbackHttp } from '../platform/address-list.ts';
import { serviceSideFields } from './fields.ts';
import { isBlank } from './json.ts';
import type { Credentials } from './wire-interface.ts';

/**
 * Reasons to refuse a request: only "presence of required fields" (interface.md, 3 and 7), in observed words
 * (docs/reference/interfaces.md, "Rejection texts").
 */

const missingBody: Readonly<Record<Channel, string>> = {
  sms: 'Missing or empty message',
  email: 'Missing or empty message body. Please specify MessagePlain or MessageHTML',
  fax: 'Missing fax contents - Empty or missing message & file fields',
  voice: 'Missing message to people',
  tts: 'Missing message to people',
};

export const missingMessageData = 'Missing message data';

/** The missing parts of credentials in the body (interface.md, section 5). */
export function credentialRefusals(credentials: Credentials | undefined): readonly string[] {
  if (credentials === undefined || credentials.kind === 'authToken') return [];
  const missingSender = isBlank(credentials.sender) ? ['Missing Sender'] : [];
  const [secret, word] =
    credentials.kind === 'apiKey' ? [credentials.apiKey, 'APIKey'] : [credentials.token, 'token'];
  return isBlank(secret) ? [...missingSender, `Missing ${word}`] : missingSender;
}

export function refusals(interfaceName: InterfaceName, request: SendRequest): readonly string[] {
  return [
    ...destinationRefusals(request),
    ...callbackRefusals(request),
    ...contentRefusals(interfaceName, request),
    ...keypadRefusals(request),
  ];
}

export const noValidDestination = 'Error - Could not find any valid destination(s).';

function destinationRefusals({ destinations }: SendRequest): readonly string[] {
  if (destinations.length === 0) return ['Missing or empty destinations'];
  if (destinations.every(({ Recipient }) => isBlank(Recipient))) {
    return [noValidDestination];
  }
  return [];
}

/** interface.md, 2.1; a sandbox has no https, so http on this machine is accepted too. */
function callbackRefusals({ fields }: SendRequest): readonly string[] {
  const url = fields['WebhookCallbackURL'];
  const isAccepted = isBlank(url) || url?.startsWith('https://') || isLoopbackHttp(url);
  return isAccepted ? [] : ['WebhookCallbackURL must start with https://'];
}

function contentRefusals(interfaceName: InterfaceName, request: SendRequest): readonly string[] {
  const words = request.channel === 'fax' ? fileRefusals(request) : [];
  const bodyFields = serviceSideFields(interfaceName, request.channel).filter(
    ({ required }) => required !== 'no',
  );
  const hasBody = bodyFields.some(({ name }) => !isBlank(request.fields[name]));
  const filesAreBody = request.channel === 'fax' && request.files.length > 0;
  return hasBody || filesAreBody ? words : [...words, missingBody[request.channel]];
}

function fileRefusals({ files }: SendRequest): readonly string[] {
  return files.flatMap(({ Name, Data }, index) => [
    ...(isBlank(Name) ? [`Missing file name on file ${index + 1}`] : []),
    ...(isBlank(Data) ? [`Missing file data on file ${index + 1}`] : []),
  ]);
}

function keypadRefusals({ keypads }: SendRequest): readonly string[] {
  return keypads.flatMap(({ Tone, RouteNumber, plays }, index) => [
    ...(isBlank(Tone) ? [`Missing tone on keypad ${index + 1}`] : []),
    ...(isBlank(RouteNumber) && !plays ? [`Missing RouteNumber/Play on keypad ${index + 1}`] : []),
  ]);
}
