// Runs a program with its own input, outputs and environment. Writes to file 3 how the program ended, or nothing for
// exit code 0. Plain JavaScript starts in half the time.
import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';

// The whole process group gets these signals, but the program decides when to end.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});

const [program, ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: 'inherit' });
child.once('error', (error) => writeSync(3, `could not be started (${error.code ?? error.name})`));
child.once('exit', (code, signal) => {
  if (code !== 0) writeSync(3, signal === null ? `ended with ${code}` : `was ended by ${signal}`);
});
