import { hostname } from 'node:os';
import type { Settings } from '../engine/settings.ts';
import { isWholeUidMap, readUidMap, systemUser } from '../platform/system-user.ts';

/**
 * `user@host` of the operating system. The variable of sudo counts for root of the machine only, because other users can
 * set it, and can be root of a user namespace.
 *
 * @param uid effective; undefined on a system without user ids
 */
export function currentUser(
  environment: Settings['environment'],
  uid: number | undefined = process.geteuid?.(),
  uidMap: string = readUidMap(),
): string {
  const caller = uid === 0 && isWholeUidMap(uidMap) ? environment['SUDO_USER'] : undefined;
  return caller ? `${caller}@${hostname()}` : systemUser(uid, uidMap);
}
