// The `volley` of a page's shell: sends its words, folder, variables and input to a process that runs the command.
import { text } from 'node:stream/consumers';

const [address, ...words] = process.argv.slice(2);
const input = process.stdin.isTTY ? '' : await text(process.stdin);
const command = { words, cwd: process.cwd(), env: process.env, input };
const answer = await fetch(address, { method: 'POST', body: JSON.stringify(command) });
const { code, stdout, stderr } = await answer.json();
process.stderr.write(stderr);
process.stdout.write(stdout);
process.exitCode = code;
