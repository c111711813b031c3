import { LRUCache } from 'lru-cache';
import type { Logger } from '../platform/logger.ts';

const minute = 60_000;

/** @param maxKeys of which lines are remembered. @returns logs a warning, for each key once a minute */
export function warnOnceAMinute(
  logger: Logger,
  maxKeys: number,
): (key: string, fields: Readonly<Record<string, unknown>>, what: string) => void {
  const logged = new LRUCache<string, true>({ max: maxKeys, ttl: minute });
  return (key, fields, what) => {
    if (logged.has(key)) return;
    logged.set(key, true);
    logger.warn(fields, what);
  };
}
