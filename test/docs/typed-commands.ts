import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type Peer, textPeer } from '../gateway/test-peers.ts';
import { startInProcess } from '../support/volley.ts';

const typedCommand = z.object({
  words: z.array(z.string()),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
  input: z.string(),
});

/** Runs the commands that shells type in this process, which saves the start of a process for each. */
export function runTypedCommands(): Promise<Peer> {
  return textPeer(async (body, response) => {
    const { words, ...surroundings } = typedCommand.parse(JSON.parse(body));
    // Another person than the one who prepares the page.
    const started = startInProcess(words, { ...surroundings, user: 'reader@here' });
    // The shell has ended the command.
    response.once('close', started.stop);
    const failed = (error: unknown) => ({ code: 1, stdout: '', stderr: String(error) });
    response.end(JSON.stringify(await started.ended.catch(failed)));
  });
}

/** What a shell calls as `volley`, with the words after it. */
export const programOf = ({ url }: Peer): string =>
  `'${process.execPath}' '${fileURLToPath(new URL('./typed-command.js', import.meta.url))}' ${url}`;
