import type { Format } from '../domain/message.ts';
import { asText, isBlank, type JsonObject, member } from './json.ts';
import type { Credentials } from './wire-interface.ts';

/**
 * Paths and headers of version 2.02, in both directions (interface.md, 4.1). Versions 2.03 and 2.04 accept its bodies and
 * headers; only the path differs (docs/reference/interfaces.md).
 */

/** The versions as paths and delivery reports write them; the first is the default. */
export const rest2Versions = ['v2.02', 'v2.03', 'v2.04'] as const;
export type Rest2Version = (typeof rest2Versions)[number];

const [firstVersion] = rest2Versions;

/** The prefix of every call, unless the account's address names a version. */
export const rest2Prefix = `/api/${firstVersion}`;

type Rest2Path = {
  readonly version: Rest2Version;
  /** Such as `send/sms`. Published clients differ in case and trailing slash. */
  readonly call: string;
};

/** @returns undefined for a path of another interface */
export function parseRest2Path(path: string): Rest2Path | undefined {
  const [, written, call] = /^\/api\/(v[\d.]+)\/(.+?)\/?$/i.exec(path) ?? [];
  const version = rest2Versions.find((known) => known === written?.toLowerCase());
  return version === undefined || call === undefined ? undefined : { version, call };
}

/** Finds `v2.04` in `https://service.example/api/v2.04`. */
export function versionIn(address: string): string | undefined {
  return /\/api\/(v\d[\d.]*)\/*$/i.exec(address)?.[1];
}

/**
 * @param basePath of the account's address; a version at its end replaces the default
 * @param path of the call; empty where the address is the endpoint itself
 */
export function joinPath(basePath: string, path: string): string {
  if (path === '') return basePath;
  const base = basePath.replace(/(?<!\/)\/+$/, '');
  const namesVersion = versionIn(base) !== undefined && path.startsWith(`${rest2Prefix}/`);
  return base + (namesVersion ? path.slice(rest2Prefix.length) : path);
}

export function mediaTypeOf(format: Format): string {
  return `application/${format}; encoding='utf-8'`;
}

/** @throws Error for credentials of another interface */
export function authorizationOf(credentials: Credentials): string {
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
): Credentials | undefined {
  const authToken = authTokenOf(authorization);
  if (authToken !== undefined) return { kind: 'authToken', authToken };
  const [sender, apiKey] = ['Sender', 'APIKey'].map((key) => asText(member(envelope, key))?.trim() ?? '');
  if (version === 'v2.02' || (isBlank(sender) && isBlank(apiKey))) return undefined;
  return { kind: 'apiKey', sender: sender ?? '', apiKey: apiKey ?? '' };
}
