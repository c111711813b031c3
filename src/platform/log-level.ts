import { InputError } from '../domain/problems.ts';
import { didYouMean, oneOf } from './suggestions.ts';

/** pino's own. They stand apart from the logger, because every command asks for its level, and few load pino. */
export const logLevels: readonly string[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/**
 * To be asked before anything is done: once something was sent, no mistake may end the command.
 *
 * @param level LOG_LEVEL; undefined or empty for the default
 * @throws InputError when there is no such level
 */
export function requireLogLevel(level: string | undefined): void {
  if (!level || logLevels.includes(level)) return;
  const what = `Expected ${oneOf(logLevels)}, got "${level}".${didYouMean(level, logLevels)}`;
  throw new InputError([{ where: 'LOG_LEVEL', what }]);
}
