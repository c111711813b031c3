/**
 * What looks like an address of a recipient, or the password of an URL: a number with its country or with a leading 0, and
 * everything around an @.
 */
const addresses = /\+\d[\d ().-]{5,}\d|(?<![\w.:+-])0\d[\d ]{5,}\d|[^\s"'<>(),;@]+@[^\s"'<>(),;:@/]+/g;

/** A text of others with what looks like an address masked. @param userNames names of those who use Volley, which stay */
export function maskAddresses(text: string, userNames: readonly string[] = []): string {
  if (userNames.length === 0) return text.replaceAll(addresses, '***');
  const names = userNames.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|');
  // A name stands by itself: as a part of an address it is masked with it.
  const either = new RegExp(
    `(?<![^\\s"'<>(),;])(${names})(?=[\\s"'<>(),;:]|\\.?$|\\.\\s)|${addresses.source}`,
    'g',
  );
  return text.replaceAll(either, (_, userName: string | undefined) => userName ?? '***');
}
