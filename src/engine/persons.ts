/**
 * Whether two names mean one person, as far as names can tell: however they are written (case, spaces, forms of Unicode),
 * and `ann`, who owns a token, is `ann@desk`, who works on the command line. Two machines make two people, as one name on
 * both may be two.
 */
export function isSamePerson(one: string, other: string): boolean {
  const [first, second] = [written(one), written(other)];
  return first === second || userOf(first) === second || first === userOf(second);
}

function written(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

/** Without the machine, where there is one. */
function userOf(name: string): string {
  return name.replace(/(?<=.)@[^@]*$/, '');
}
