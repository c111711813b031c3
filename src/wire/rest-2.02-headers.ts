import type { Format } from '../domain/message.ts';
import { asText, isBlank, type JsonObject, member } from './json.ts';
import type { Rest2Version } from './rest-2-paths.ts';
import type { WireCredentials } from './wire-interface.ts';

/** Headers in both directions (interface.md, 4.1). */

export function mediaTypeOf(format: Format): string {
  return `application/${format}; encoding='utf-8'`;
}

/** @throws Error for credentials of another interface */
export function authorizationOf(credentials: WireCredentials): string {
  if (credentials.kind !== 'authToken') {
    throw new Error(`rest-2.02 needs an auth token, not credentials of kind ${credentials.kind}`);
  }
  return `Basic ${credentials.authToken}`;
}

/** The first format that the header names. */
export function formatOf(header: string | readonly string[] | undefined): Format | undefined {
  const found = typeof header === 'string' ? /json|xml/i.exec(header)?.[0].toLowerCase() : undefined;
  return found === 'json' || found === 'xml' ? found : undefined;
}

function authTokenOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? /^Basic +(\S+)\s*$/i.exec(header)?.[1] : undefined;
}

/**
 * On the service's side. Without a token, versions 2.03 and 2.04 read the pair of an older call style from
 * the body (docs/reference/interfaces.md, "Versions 2.03 and 2.04"); its effect in 2.02 is not shown.
 *
 * @param envelope the body
 */
export function rest2CredentialsOf(
  version: Rest2Version,
  authorization: string | readonly string[] | undefined,
  envelope: JsonObject,
): WireCredentials | undefined {
  const authToken = authTokenOf(authorization);
  if (authToken !== undefined) return { kind: 'authToken', authToken };
  const [sender, apiKey] = ['Sender', 'APIKey'].map((key) => asText(member(envelope, key))?.trim() ?? '');
  if (version === 'v2.02' || (isBlank(sender) && isBlank(apiKey))) return undefined;
  return { kind: 'apiKey', sender: sender ?? '', apiKey: apiKey ?? '' };
}
