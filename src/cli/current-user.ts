import { hostname, userInfo } from 'node:os';

import type { Settings } from '../engine/settings.ts';

/** `user@host` of the operating system. The variable of sudo counts for root only, because other users can set it. */
export function currentUser(
  environment: Settings['environment'],
  isRoot: boolean = process.geteuid?.() === 0,
): string {
  const caller = isRoot ? environment['SUDO_USER'] : undefined;
  return `${caller || userName()}@${hostname()}`;
}

/** A container can lack the name of its user. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
