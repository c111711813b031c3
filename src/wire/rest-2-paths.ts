/**
 * Versions 2.03 and 2.04 accept the bodies and headers of 2.02 (interface.md, 4.1; docs/reference/interfaces.md);
 * only the path differs.
 */

/** As in paths and delivery reports; the first is the default. */
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
