import type { Actor } from '../domain/access.ts';

/** `user@host` on the command line, the token's owner over the API. */
export type Person = Pick<Actor, 'name' | 'via'>;

/**
 * Whether two names mean one person, whatever their case, spaces and Unicode form. The token owner `ann` is
 * `ann@desk` of the command line. Machines do not count on the command line, because each container has another name.
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

function userOf(name: string): string {
  return name.replace(/(?<=.)@[^@]*$/, '');
}
