/** A path of this server, such as a form brings it back; the start page for anything else. */
export function ownPath(given: unknown): string {
  const base = 'http://own.invalid';
  if (typeof given !== 'string' || !/^\/(?![/\\])[\x21-\x7e]{0,2000}$/.test(given)) return '/';
  const url = URL.parse(given, base);
  if (url?.origin !== base) return '/';
  // `/..//other.host` becomes `//other.host`, which a browser takes for a host.
  return url.pathname.startsWith('//') ? '/' : `${url.pathname}${url.search}`;
}
