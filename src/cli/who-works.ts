import { hostname, userInfo } from 'node:os';

/** Who runs this process, and where: `user@host`. */
export function whoWorks(): string {
  return `${userName()}@${hostname()}`;
}

/** A number that has no name in a container, where the system knows none. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
