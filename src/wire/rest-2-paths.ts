/**
 * The paths of the current interface. Version 2.02 is the one of interface.md (4.1); 2.03 and 2.04 were seen to take the
 * same bodies and headers (rest-3.00.md, section 11), so one module speaks all three, and the path says which.
 */

/** As the path and the delivery reports write them; the first is the one that is spoken unless an address says another. */
export const rest2Versions = ['v2.02', 'v2.03', 'v2.04'] as const;
export type Rest2Version = (typeof rest2Versions)[number];

const [firstVersion] = rest2Versions;

/** What the path of every call begins with, where the account's address does not name a version itself. */
export const rest2Prefix = `/api/${firstVersion}`;

export type Rest2Path = {
  readonly version: Rest2Version;
  /** What follows the version, such as `send/sms`; published clients differ in case and in a slash at the end. */
  readonly call: string;
};

/** @returns undefined for the path of another interface */
export function parseRest2Path(path: string): Rest2Path | undefined {
  const [, written, call] = /^\/api\/(v[\d.]+)\/(.+?)\/?$/i.exec(path) ?? [];
  const version = rest2Versions.find((known) => known === written?.toLowerCase());
  return version === undefined || call === undefined ? undefined : { version, call };
}

/** The version that an account's address ends with, such as `v2.04` of `https://service.example/api/v2.04`. */
export function versionIn(address: string): string | undefined {
  return /\/api\/(v\d[\d.]*)\/*$/i.exec(address)?.[1];
}

/**
 * Where a call goes.
 *
 * @param basePath the path of the account's address; with a version at its end, that version is spoken
 * @param path of the call, or empty where the address is the endpoint itself
 */
export function joinPath(basePath: string, path: string): string {
  if (path === '') return basePath;
  const base = basePath.replace(/\/+$/, '');
  const namesVersion = versionIn(base) !== undefined && path.startsWith(`${rest2Prefix}/`);
  return base + (namesVersion ? path.slice(rest2Prefix.length) : path);
}
