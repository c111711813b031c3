/** Numbers with a country code or leading 0. */
const numbers = /\+\d[\d ().-]{5,}\d|(?<![\w.:+-])0\d[\d ]{5,}\d/;
/**
 * All text around an @: e-mail addresses, and passwords in URLs. Text without an @ is matched too, to be read once and
 * not once from each of its characters.
 */
const words = /[^\s"'<>(),;@]+(@[^\s"'<>(),;:@/]+)?/;

const createPatterns = (userName: string) => ({
  inWords: new RegExp(`(${userName})|${words.source}`, 'g'),
  inNumbers: new RegExp(`(${userName})|${numbers.source}`, 'g'),
});
const withoutNames = createPatterns('(?!)');

/**
 * Masks possible addresses.
 * @param userNames names of Volley users, which stay
 */
export function maskAddresses(text: string, userNames: readonly string[] = []): string {
  const names = userNames.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|');
  // Only a whole name stays; an address that contains it is masked.
  const ownName = `(?<![^\\s"'<>(),;])(?:${names})(?=[\\s"'<>(),;:]|\\.?$|\\.\\s)`;
  const { inWords, inNumbers } = userNames.length === 0 ? withoutNames : createPatterns(ownName);
  return text
    .replaceAll(inWords, (all, _name, afterAt: string | undefined) => (afterAt === undefined ? all : '***'))
    .replaceAll(inNumbers, (_, userName: string | undefined) => userName ?? '***');
}
