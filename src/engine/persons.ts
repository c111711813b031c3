import type { Actor } from '../domain/access.ts';

/** Who did something, and in which way: `user@host` on the command line, the owner of a token over the API. */
export type Person = Pick<Actor, 'name' | 'via'>;

/**
 * Whether two names mean one person, as far as names can tell: however they are written (case, spaces, forms of Unicode).
 * `ann`, who owns a token, is `ann@desk`, who works on the command line; and two system users of one name are one person
 * whatever machines they work at, because a container has another name each time.
 */
export function isSamePerson(one: Person, other: Person): boolean {
  const [first, second] = [normalizeName(one.name), normalizeName(other.name)];
  if (first === second || userOf(first) === second || first === userOf(second)) return true;
  return one.via === 'cli' && other.via === 'cli' && userOf(first) === userOf(second);
}

function normalizeName(name: string): string {
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
