import { hostname, userInfo } from 'node:os';

import type { Settings } from '../engine/settings.ts';

/**
 * Who runs this process, and where: `user@host`. The name is that of the operating system; the caller of sudo stands in a
 * variable, which every user but root could have set to any name.
 */
export function currentUser(
  environment: Settings['environment'],
  isRoot: boolean = process.geteuid?.() === 0,
): string {
  const caller = isRoot ? environment['SUDO_USER'] : undefined;
  return `${caller || userName()}@${hostname()}`;
}

/** A number that has no name in a container, where the system knows none. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
