/**
 * Matches possible addresses, and passwords in URLs: numbers with a country code or leading 0, and all text
 * around an @.
 */
const addresses = /\+\d[\d ().-]{5,}\d|(?<![\w.:+-])0\d[\d ]{5,}\d|[^\s"'<>(),;@]+@[^\s"'<>(),;:@/]+/g;

/**
 * Masks possible addresses.
 * @param userNames names of Volley users, which stay
 */
export function maskAddresses(text: string, userNames: readonly string[] = []): string {
  if (userNames.length === 0) return text.replaceAll(addresses, '***');
  const names = userNames.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|');
  // Only a whole name stays; an address that contains it is masked.
  const either = new RegExp(
    `(?<![^\\s"'<>(),;])(${names})(?=[\\s"'<>(),;:]|\\.?$|\\.\\s)|${addresses.source}`,
    'g',
  );
  return text.replaceAll(either, (_, userName: string | undefined) => userName ?? '***');
}
