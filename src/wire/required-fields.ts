import type { Channel, InterfaceName, SendRequest } from '../domain/message.ts';
import { serviceSideFields } from './fields.ts';
import { isBlank } from './json.ts';
import { isLoopbackHttp } from './loopback.ts';
import type { WireCredentials } from './wire-interface.ts';

/**
 * What the service refuses a request for: "presence of required fields", nothing else (interface.md, sections 3 and 7),
 * in the words seen in one deployment (observed.md, "Rejection texts").
 */

const missingBody: Readonly<Record<Channel, string>> = {
  sms: 'Missing or empty message',
  email: 'Missing or empty message body. Please specify MessagePlain or MessageHTML',
  fax: 'Missing fax contents - Empty or missing message & file fields',
  voice: 'Missing message to people',
  tts: 'Missing message to people',
};

/** What is wrong when the body holds no message at all. */
export const missingMessageData = 'Missing message data';

/** What is missing of credentials that stand in the body (interface.md, section 5), in the service's words. */
export function credentialRefusals(credentials: WireCredentials | undefined): readonly string[] {
  if (credentials === undefined || credentials.kind === 'authToken') return [];
  const missingSender = isBlank(credentials.sender) ? ['Missing Sender'] : [];
  const [secret, word] =
    credentials.kind === 'apiKey' ? [credentials.apiKey, 'APIKey'] : [credentials.token, 'token'];
  return isBlank(secret) ? [...missingSender, `Missing ${word}`] : missingSender;
}

/** Every reason to refuse the request, in the service's words; none when it would be accepted. */
export function refusals(interfaceName: InterfaceName, request: SendRequest): readonly string[] {
  return [
    ...destinationRefusals(request),
    ...callbackRefusals(request),
    ...contentRefusals(interfaceName, request),
    ...keypadRefusals(request),
  ];
}

function destinationRefusals({ destinations }: SendRequest): readonly string[] {
  if (destinations.length === 0) return ['Missing or empty destinations'];
  if (destinations.every(({ Recipient }) => isBlank(Recipient))) {
    return ['Error - Could not find any valid destination(s).'];
  }
  return [];
}

/** The rule of interface.md, 2.1; a sandbox on this machine cannot be reached by https, so its own address is taken. */
function callbackRefusals({ fields }: SendRequest): readonly string[] {
  const url = fields['WebhookCallbackURL'];
  const taken = isBlank(url) || url?.startsWith('https://') || isLoopbackHttp(url);
  return taken ? [] : ['WebhookCallbackURL must start with https://'];
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
