import type { FastifyRequest } from 'fastify';
import type { Logger } from '../../platform/logger.ts';
import type { SignInEvent } from '../../server/metrics.ts';
import { addressOf, maxAddresses } from '../../server/refusal-count.ts';
import { warnOnceAMinute } from '../../server/warn-once-a-minute.ts';

/** @param fields for the log: names of tokens, and nothing that a person typed */
export type NoteSignIn = (
  event: SignInEvent,
  request: FastifyRequest,
  fields: Readonly<Record<string, string>>,
) => void;

/** Counts and logs each event, but logs refusals of an address once a minute. */
export function createNoteSignIn(
  logger: Logger,
  count: (event: SignInEvent) => void = () => undefined,
): NoteSignIn {
  const warn = warnOnceAMinute(logger, maxAddresses);
  return (event, request, fields) => {
    const address = addressOf(request);
    count(event);
    const line = { event, address, ...fields };
    if (event === 'refused' || event === 'throttled')
      warn(`${event} ${address}`, line, `sign-in to the dashboard ${event}`);
    else logger.info(line, `a person ${event}`);
  };
}
