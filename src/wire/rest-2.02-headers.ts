import type { Format } from '../domain/message.ts';
import type { WireCredentials } from './wire.ts';

/** The headers of version 2.02 (interface.md, 4.1), of its requests and its status look-up, in both directions. */

/** As Content-Type and Accept name it. */
export function mediaTypeOf(format: Format): string {
  return `application/${format}; encoding='utf-8'`;
}

/** @throws Error for credentials of another interface */
export function authorizationOf(credentials: WireCredentials): string {
  if (credentials.kind !== 'authToken') {
    throw new Error(`rest-2.02 takes an auth token, not credentials of kind ${credentials.kind}`);
  }
  return `Basic ${credentials.authToken}`;
}

/** The format a Content-Type or Accept header names; the first one, if it names both. */
export function formatOf(header: string | readonly string[] | undefined): Format | undefined {
  const found = typeof header === 'string' ? /json|xml/i.exec(header)?.[0].toLowerCase() : undefined;
  return found === 'json' || found === 'xml' ? found : undefined;
}

/** The token of an Authorization header; undefined where there is none. */
export function authTokenOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? /^Basic +(\S+)\s*$/i.exec(header)?.[1] : undefined;
}
