import { z } from 'zod';
import type { Problem } from '../domain/problems.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A secret belongs in the environment, not in the file. If the file contains one, `writeOnly` keeps it out of
 * errors.
 */
export const secretReference = z
  .string()
  .regex(
    /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/,
    'a secret must not be in the file; write ${NAME} and set NAME in the environment',
  )
  .meta({ writeOnly: true });

/** One without an end is read once, to the end of the text. */
const variables = /\$\{(\w+)(?::-([^}]*))?\}?/g;

/** Replaces `${NAME}` and `${NAME:-default}`. A missing variable is a problem. */
export function resolveVariables(
  text: string,
  where: string,
  environment: Environment,
  problems: Problem[],
): string {
  return text.replace(variables, (written, name: string, fallback: string | undefined) => {
    if (!written.endsWith('}')) return written;
    const value = environment[name] || fallback;
    if (!value) problems.push({ where, what: `Environment variable ${name} is not set.`, unset: name });
    return value ?? '';
  });
}
