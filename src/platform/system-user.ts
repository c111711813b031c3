import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { memoize } from './memoize.ts';

/** The whole identity map of user_namespaces(7): each user of the process is the same user of the machine. */
const wholeUidMap = '0 0 4294967295';

/** Stands for a user that cannot be known: a user namespace within another hides its user. */
export const unknownUser = 'unknown user';

/** Lines of the ids inside, the ids outside and their number. Without the file of Linux, nothing is mapped. */
export function readUidMap(): string {
  if (process.platform !== 'linux') return wholeUidMap;
  try {
    return readFileSync('/proc/self/uid_map', 'utf8');
  } catch {
    return '';
  }
}

export function isWholeUidMap(uidMap: string): boolean {
  return uidMap.trim().replace(/\s+/g, ' ') === wholeUidMap;
}

/**
 * The user behind an id of this process, as `user@host`. Every user can be root of a user namespace, so the user of the
 * machine counts, outside of it.
 */
export function systemUser(uid: number | undefined, uidMap: string = readUidMap()): string {
  return `${uid === undefined ? ownName() : nameBehind(uid, uidMap)}@${hostname()}`;
}

function nameBehind(uid: number, uidMap: string): string {
  if (isWholeUidMap(uidMap)) return uid === process.geteuid?.() ? ownName() : nameOf(uid);
  const outside = outsideOf(uid, uidMap);
  // Outside of a namespace, root makes none to be root: this is root of another namespace.
  return outside === undefined || outside === 0 ? unknownUser : nameOf(outside);
}

function outsideOf(uid: number, uidMap: string): number | undefined {
  for (const line of uidMap.split('\n')) {
    const [inside = Number.NaN, outside = Number.NaN, count = Number.NaN] = line
      .trim()
      .split(/\s+/)
      .map(Number);
    if (uid >= inside && uid < inside + count) return outside + uid - inside;
  }
  return undefined;
}

/** A container can lack the name of its user. */
function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? unknownUser);
  }
}

/** The number of a user without a name. */
const nameOf = memoize((uid: number): string => askForName(uid) || String(uid));

/** Knows users of a directory service too. The path is whole, because the caller chooses `PATH`. */
function askForName(uid: number): string {
  try {
    return execFileSync('/usr/bin/id', ['-nu', String(uid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5_000,
    }).trim();
  } catch {
    return '';
  }
}
