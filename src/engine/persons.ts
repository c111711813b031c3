import type { Person } from '../domain/access.ts';
import { unknownUser } from '../platform/system-user.ts';

/** The persons behind a plan. */
export type Planners = {
  /** A person, or a schedule. */
  readonly planner: Person;
  /** They put in the schedule. */
  readonly schedulers: readonly Person[];
  /** They made the token with which it was planned. */
  readonly makers: readonly Person[];
};

export type Approver = {
  readonly person: Person;
  /** They made the approver's token. */
  readonly makers: readonly Person[];
};

/** Why an approver is no second person, and the first one. */
export type SamePerson = {
  readonly kind:
    | 'planned it'
    | 'put in its schedule'
    | "made the planner's token"
    | "planned it and made the approver's token"
    | "put in its schedule and made the approver's token";
  readonly person: Person;
};

/** A person does not approve what they planned, nor do they by a token that they made for another name. */
export function findSamePerson(
  { planner, schedulers, makers }: Planners,
  approver: Approver,
): SamePerson | undefined {
  const among = (persons: readonly Person[], others: readonly Person[], kind: SamePerson['kind']) => {
    const person = persons.find((one) => others.some((other) => isSamePerson(one, other)));
    return person && { kind, person };
  };
  const own = [approver.person];
  return (
    among([planner], own, 'planned it') ??
    among(schedulers, own, 'put in its schedule') ??
    among(makers, own, "made the planner's token") ??
    among([planner], approver.makers, "planned it and made the approver's token") ??
    among(schedulers, approver.makers, "put in its schedule and made the approver's token")
  );
}

/**
 * Whether two names mean one person, whatever their case, spaces and Unicode form. The token owner `ann` is
 * `ann@desk` of the command line. Machines do not count on the command line, because each container has another name.
 * A user that cannot be known may be any person.
 */
export function isSamePerson(one: Person, other: Person): boolean {
  if (isUnknown(one) || isUnknown(other)) return true;
  const [first, second] = [normalizeName(one.name), normalizeName(other.name)];
  if (first === second || userOf(first) === second || first === userOf(second)) return true;
  return one.via === 'cli' && other.via === 'cli' && userOf(first) === userOf(second);
}

function isUnknown({ name, via }: Person): boolean {
  return via === 'cli' && userOf(name) === unknownUser;
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
