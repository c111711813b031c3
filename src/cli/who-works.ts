import { hostname, userInfo } from 'node:os';

import type { Settings } from '../engine/settings.ts';

/**
 * Who runs this process, and where: `user@host`. Through sudo the person who called it, for `root`, and the user that the
 * service runs as, may be anybody.
 */
export function whoWorks(environment: Settings['environment']): string {
  return `${environment['SUDO_USER'] || userName()}@${hostname()}`;
}

/** A number that has no name in a container, where the system knows none. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
