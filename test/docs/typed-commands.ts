import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Peer, tcpPeer } from '../gateway/test-peers.ts';
import { startInProcess } from '../support/volley.ts';

/** Runs the commands that shells type in this process, which saves the start of a process for each. */
export function runTypedCommands(): Promise<Peer> {
  return tcpPeer(async (shell) => {
    const [words = '', folder = '', variables = '', input = ''] = await readLines(shell, 4);
    const env = Object.fromEntries(
      listOf(variables).map((variable) => {
        const [name = ''] = variable.split('=', 1);
        return [name, variable.slice(name.length + 1)];
      }),
    );
    const surroundings = { cwd: folder.trimEnd(), env, input };
    // Another person than the one who prepares the page.
    const started = startInProcess(listOf(words), { ...surroundings, user: 'reader@here' });
    // The shell has ended the command.
    shell.once('close', started.stop);
    const failed = (error: unknown) => ({ code: 1, stdout: '', stderr: String(error) });
    const { code, stdout, stderr } = await started.ended.catch(failed);
    shell.end(`${code} ${Buffer.byteLength(stderr)}\n${stderr}${stdout}`);
  });
}

async function readLines(shell: Socket, count: number): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of createInterface(shell)) {
    lines.push(Buffer.from(line, 'base64').toString());
    if (lines.length === count) break;
  }
  return lines;
}

/** Each ends with a zero byte. */
const listOf = (text: string): readonly string[] => text.split('\0').slice(0, -1);

/** What a shell calls as `volley`, with the words after it. */
export const programOf = ({ port }: Peer): string =>
  `bash '${fileURLToPath(new URL('./typed-command.sh', import.meta.url))}' ${port}`;
