import { type Logger, pino } from 'pino';

export type { Logger };

const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/**
 * Structured log lines on standard error; standard output belongs to results.
 * Callers log named values (run, MessageID, account), never whole objects: addresses only at `debug`, secrets never.
 *
 * @param level LOG_LEVEL, or undefined for the default
 */
export function openLogger(level: string | undefined, defaultLevel: 'warn' | 'info'): Logger {
  const chosen = level !== undefined && levels.includes(level) ? level : defaultLevel;
  return pino(
    { level: chosen, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
}
