import { InputError } from '../domain/problems.ts';
import { didYouMean, oneOf } from './suggestions.ts';

/** pino's levels. Apart from the logger, because few commands load pino. */
export const logLevels: readonly string[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/**
 * Call it before anything else: after the first request, no mistake may end the command.
 *
 * @param level LOG_LEVEL; undefined or empty for the default
 * @throws InputError for an unknown level
 */
export function requireLogLevel(level: string | undefined): void {
  if (!level || logLevels.includes(level)) return;
  const what = `Expected ${oneOf(logLevels)}, got "${level}".${didYouMean(level, logLevels)}`;
  throw new InputError([{ where: 'LOG_LEVEL', what }]);
}
