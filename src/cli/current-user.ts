import { hostname, userInfo } from 'node:os';

import type { Settings } from '../engine/settings.ts';

/**
 * Returns the user of this process as `user@host`, by the operating system. The variable with the caller of sudo counts
 * for root only: every other user can set it to any name.
 */
export function currentUser(
  environment: Settings['environment'],
  isRoot: boolean = process.geteuid?.() === 0,
): string {
  const caller = isRoot ? environment['SUDO_USER'] : undefined;
  return `${caller || userName()}@${hostname()}`;
}

/** Returns the user's number in a container that has no name for it. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
