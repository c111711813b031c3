import { InputError } from '../domain/problems.ts';
import type { Settings, StandardInput } from '../engine/settings.ts';

/** Settings whose standard input ends where a caller leaves the pipe open and writes nothing. */
export function withoutSilentInput(settings: Settings): Settings {
  const { environment, workingFolder, envFiles = [] } = settings;
  return {
    environment,
    workingFolder,
    envFiles,
    get standardInput() {
      return endAfterSilence(settings.standardInput);
    },
  };
}

/** Milliseconds. */
export const maxSilence = 5_000;

export function endAfterSilence(
  input: StandardInput | undefined,
  milliseconds = maxSilence,
): StandardInput | undefined {
  if (!input || input.isTTY) return input;
  return readUntilSilence(input, milliseconds);
}

async function* readUntilSilence(
  input: StandardInput,
  milliseconds: number,
): AsyncGenerator<Buffer, void, undefined> {
  const chunks = input[Symbol.asyncIterator]();
  let timedOut = false;
  try {
    for (;;) {
      const { promise: silence, resolve } = Promise.withResolvers<undefined>();
      const timer = setTimeout(resolve, milliseconds, undefined);
      const chunk = await Promise.race([chunks.next(), silence]).finally(() => clearTimeout(timer));
      timedOut = chunk === undefined;
      if (chunk === undefined) throw new InputError([{ where: 'standard input', what: noDataText }]);
      if (chunk.done) return;
      yield chunk.value;
    }
  } finally {
    // A pending read blocks return(), so the stream is destroyed.
    if (timedOut) input.destroy?.();
    else await chunks.return?.();
  }
}

const noDataText = `No data arrived for ${maxSilence / 1000} s. Pipe a file in, or name one with --contacts.`;
