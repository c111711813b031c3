import { type Logger, pino } from 'pino';
import { logLevels } from './log-level.ts';
import { maskAddresses } from './mask-addresses.ts';

export type { Logger };

/** pino's number of the level from which on no line has an address. */
const infoLevel = 30;

/** Our own names for things, and the caller's own address; none of them is a text of somebody else's. */
const ownNames = new Set(['run', 'messageId', 'account', 'schedule', 'address']);

/**
 * Structured log lines on standard error; standard output belongs to results.
 * Callers log named values (run, MessageID, account), never whole objects: addresses only at `debug`, secrets never. As
 * texts of others (Postgres, the service, a file) may quote an address, what looks like one is masked above `debug`.
 *
 * @param level LOG_LEVEL, or undefined for the default
 */
export function openLogger(
  level: string | undefined,
  defaultLevel: 'warn' | 'info',
  destination: { write(line: string): void } = openStandardError(),
): Logger {
  const chosen = level !== undefined && logLevels.includes(level) ? level : defaultLevel;
  return pino(
    {
      level: chosen,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: {
        logMethod(words, method, number) {
          const [first, ...rest] = words;
          if (number >= infoLevel && isRecord(first)) method.apply(this, [maskValues(first), ...rest]);
          else method.apply(this, words);
        },
      },
    },
    destination,
  );
}

/** Bytes of the log that are kept for when a disk has room again; what comes after them is lost. */
const maxKeptBytes = 1_048_576;

/** Lines that cannot be written, as on a full disk, stop nothing: what is being sent would be in doubt by it. */
function openStandardError(): { write(line: string): void } {
  const stream = pino.destination({ dest: 2, sync: true, maxLength: maxKeptBytes });
  stream.on('error', () => undefined);
  return stream;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !(value instanceof Error);
}

function maskValues(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' && !ownNames.has(name) ? maskAddresses(value) : value,
    ]),
  );
}
