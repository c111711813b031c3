import { type Logger, pino } from 'pino';
import { logLevels } from './log-level.ts';
import { maskAddresses } from './mask-addresses.ts';

export type { Logger };

/** pino's number. From this level on, no line may contain an address. */
const infoLevel = 30;

/** Values that are ours, so they need no mask. */
const ownNames = new Set(['run', 'messageId', 'account', 'schedule', 'address']);

/**
 * Logs to standard error. Callers log named values, never whole objects, never secrets, and addresses only at
 * `debug`. Text from Postgres, the service or a file may quote an address, so above `debug` apparent addresses
 * are masked.
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

/** Bytes kept while the disk is full; later lines are lost. */
const maxKeptBytes = 1_048_576;

/** Ignores write errors, such as a full disk: to stop would put requests in doubt. */
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
